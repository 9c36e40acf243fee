/** How the page looks: light or dark as its viewer likes, and each row a card where it is narrow. */
export const style = `:root {
  color-scheme: light dark;
  --ground: light-dark(#f6f7f9, #14171c);
  --sheet: light-dark(#ffffff, #1c2027);
  --ink: light-dark(#1a1f27, #e6e9ee);
  --quiet: light-dark(#56606e, #9ba5b3);
  --line: light-dark(#dfe3e9, #2e343e);
  --good: light-dark(#12703c, #5fd394);
  --warn: light-dark(#8a5a00, #f0b95a);
  --bad: light-dark(#b3261e, #ff8a80);
  --accent: light-dark(#2257c4, #8ab4ff);
  font: 15px / 1.5 system-ui, sans-serif;
  font-variant-numeric: tabular-nums;
  color: var(--ink);
  background: var(--ground);
}
* { box-sizing: border-box; }
body, h1, h2, p, dl, dd, ol, fieldset { margin: 0; padding: 0; }
.quiet, .empty, #connection, time, th, dt, legend, label { color: var(--quiet); }
.good { color: var(--good); }
.warn { color: var(--warn); }
.bad { color: var(--bad); }
b { font-weight: 600; }

h1 { font-size: 1.2rem; }
h2 { margin-bottom: 0.6rem; font-size: 0.95rem; }
h2::first-letter { text-transform: capitalize; }
header {
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: 0.4rem 1rem;
  padding: 0.9rem 1.5rem;
  background: var(--sheet);
  border-bottom: 1px solid var(--line);
}
.badge { padding: 0.05rem 0.6rem; border: 1px solid; border-radius: 1rem; font-size: 0.85rem; }
.skip { position: absolute; left: -100vw; }
.skip:focus { left: 1rem; top: 0.6rem; padding: 0.3rem 0.8rem; background: var(--sheet); color: var(--accent); z-index: 1; }
main {
  display: grid;
  grid-template-columns: minmax(0, 5fr) minmax(0, 3fr);
  gap: 1.25rem;
  max-width: 90rem;
  margin: 0 auto;
  padding: 1.25rem 1.5rem 5rem;
}
section { padding: 1rem 1.2rem; background: var(--sheet); border: 1px solid var(--line); border-radius: 8px; }
section:not(.narrow), .wide { grid-column: 1 / -1; }
#added { display: grid; gap: 1.25rem; }
#added:empty { display: none; }

table { width: 100%; border-collapse: collapse; }
th { text-align: left; font-weight: 500; font-size: 0.8rem; }
th, td { padding: 0.35rem 1rem 0.35rem 0; border-bottom: 1px solid var(--line); vertical-align: baseline; }
td { overflow-wrap: anywhere; }
tr:last-child > td { border-bottom: 0; }
td:last-child button + button { margin-left: 0.4rem; }
.orders { color: transparent; }
code, time { font: 0.86em ui-monospace, monospace; }
.empty { display: none; }
:empty + .empty { display: block; }
.facts { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 0.15rem 1.2rem; }
.facts .facts { padding-bottom: 0.4rem; }
#explanation:not(:empty) { margin-top: 0.9rem; }

#events { overflow-y: auto; max-height: 24rem; list-style: none; font-size: 0.93rem; }
#events li { display: flex; align-items: baseline; gap: 0.9rem; padding: 0.12rem 0; }
#events b { flex: 0 0 9.8rem; font-weight: 500; }
#events span { overflow-wrap: anywhere; color: var(--quiet); }
#counters { display: grid; grid-template-columns: repeat(auto-fill, minmax(9.5rem, 1fr)); gap: 0.3rem 1.5rem; }
#counters div { display: flex; justify-content: space-between; border-bottom: 1px solid var(--line); }

label, legend { font-size: 0.85rem; }
input, button {
  padding: 0.2rem 0.6rem;
  font: inherit;
  color: var(--ink);
  background: var(--ground);
  border: 1px solid light-dark(#8a93a0, #5f6876);
  border-radius: 6px;
}
button { cursor: pointer; white-space: nowrap; }
button:hover { border-color: var(--accent); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
[tabindex='-1']:focus-visible { outline: none; }
.danger { color: var(--bad); }
dialog {
  width: 28rem;
  max-width: calc(100vw - 2rem);
  padding: 1.3rem;
  color: var(--ink);
  background: var(--sheet);
  border: 1px solid var(--line);
  border-radius: 10px;
}
dialog::backdrop { background: rgb(0 0 0 / 0.45); }
dialog p + p { margin-top: 0.5rem; }
.about { font-weight: 600; overflow-wrap: anywhere; }
dialog form > label { display: grid; grid-template-columns: 5.5rem 1fr; align-items: center; margin-top: 0.7rem; }
fieldset { border: 0; margin-top: 0.7rem; }
fieldset label { display: block; color: var(--ink); }
.buttons { display: flex; justify-content: flex-end; gap: 0.6rem; margin-top: 1rem; }
#answer:not(:empty) {
  position: fixed;
  inset: auto 1.5rem 1.5rem auto;
  max-width: min(30rem, calc(100vw - 2rem));
  padding: 0.7rem 1rem;
  color: var(--ground);
  background: var(--ink);
  border-radius: 8px;
}

@media (max-width: 60rem) {
  header { padding: 0.8rem 1rem; }
  main { grid-template-columns: minmax(0, 1fr); gap: 0.9rem; padding: 0.9rem 0.9rem 5rem; }
  table, tbody, tr, td { display: block; }
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  tr { padding: 0.5rem 0; border-bottom: 1px solid var(--line); }
  tr:last-child { border-bottom: 0; padding-bottom: 0; }
  td { display: flex; gap: 0.8rem; padding: 0.1rem 0; border-bottom: 0; }
  td::before { content: attr(data-head); flex: 0 0 6.5rem; color: var(--quiet); font-size: 0.85rem; }
  td[data-head='orders'] { margin-top: 0.3rem; }
  td[data-head='orders']::before { content: none; }
  .facts { grid-template-columns: minmax(5rem, max-content) minmax(0, 1fr); gap: 0.15rem 0.8rem; }
  #events li { flex-wrap: wrap; gap: 0 0.7rem; }
  #events b { flex-basis: auto; }
}
@media (prefers-contrast: more) { :root { --quiet: var(--ink); --line: var(--ink); } }
`;
