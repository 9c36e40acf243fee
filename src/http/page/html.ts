/** The page; its lists are filled by its script. */
export function html(base: string, takesOrders: boolean): string {
  return `<!doctype html>
<html lang="en" data-base="${base}" data-orders="${takesOrders ? 'yes' : 'no'}">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>Transition ownership</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="${base}/page.css">
    <script type="module" src="${base}/page.js"></script>
  </head>
  <body>
    <a class="skip" href="#leases">Skip to the leases</a>
    <header>
      <h1>Transition ownership</h1>
      <p id="mode" class="badge" title="The kill switch: on, draining or off">…</p>
      <p id="connection" role="status">connecting</p>
    </header>
    <main>
      ${list('leases', 'Who owns a transition now', 'Nobody. Every task is free to be moved.')}
      ${list('transitions', 'Broken-off transitions', 'None. Nothing waits for somebody to go on with it.')}
      ${list('effects', 'Unfinished effects', 'None. The end of every effect is known.')}
      <section id="task" aria-labelledby="task-title">
        <h2 id="task-title">One task, explained</h2>
        <form id="explain"><label>Task <input name="task" required autocomplete="off" size="14"></label> <button>Explain</button></form>
        <div id="explanation" aria-live="polite" tabindex="-1"></div>
      </section>
      <div id="added" class="wide"></div>
      <section class="narrow" aria-labelledby="events-title">
        <h2 id="events-title">Events of this process</h2>
        <ol id="events" tabindex="0" aria-labelledby="events-title"></ol>
        <p class="empty">Nothing has happened yet.</p>
      </section>
      <section class="narrow" aria-labelledby="counters-title">
        <h2 id="counters-title">Counters of this process</h2>
        <dl id="counters"></dl>
        <p class="empty">All at zero.</p>
      </section>
    </main>
    ${RELEASE}
    ${ABANDON}
    ${RESOLVE}
    <p id="answer" role="alert"></p>
  </body>
</html>
`;
}

/** A list under its title, and the sentence that stands where it is empty. */
function list(id: string, title: string, empty: string): string {
  return `<section aria-labelledby="${id}-title">
        <h2 id="${id}-title">${title}</h2>
        <div id="${id}" tabindex="-1"></div>
        <p class="empty">${empty}</p>
      </section>`;
}

const WHO = `<label>Your name <input name="by" required maxlength="80" autocomplete="username"></label>
        <label>Reason <input name="reason" required maxlength="250" autocomplete="off"></label>`;

const RELEASE = `<dialog id="release" aria-labelledby="release-title">
      <form method="dialog">
        <h2 id="release-title">Release the lease</h2>
        <p class="about"></p>
        <p>Its owner may still be alive. From then on its stage writes and its next irreversible step are refused, but a step that it has begun goes on.</p>
        ${WHO}
        <p class="buttons"><button type="button" class="leave">Leave it</button><button value="order" class="danger">Release it</button></p>
      </form>
    </dialog>`;

const ABANDON = `<dialog id="abandon" aria-labelledby="abandon-title">
      <form method="dialog">
        <h2 id="abandon-title">Abandon the transition</h2>
        <p class="about"></p>
        <p>Its owner is proved dead. The lease goes, and the task stays in its stage; effects whose end is not known are still listed, each until somebody says what became of it.</p>
        ${WHO}
        <p class="buttons"><button type="button" class="leave">Leave it</button><button value="order" class="danger">Abandon it</button></p>
      </form>
    </dialog>`;

const RESOLVE = `<dialog id="resolve" aria-labelledby="resolve-title">
      <form method="dialog">
        <h2 id="resolve-title">Say what became of the effect</h2>
        <p class="about"></p>
        <p>Look in the outside system first, and be sure that nobody is applying it at this moment. An effect that was not applied is done when its transition runs again.</p>
        <fieldset>
          <legend>What you saw</legend>
          <label><input type="radio" name="outcome" value="applied" required> It was applied</label>
          <label><input type="radio" name="outcome" value="not-applied"> It was not applied</label>
        </fieldset>
        ${WHO}
        <p class="buttons"><button type="button" class="leave">Leave it</button><button value="order" class="danger">Write it down</button></p>
      </form>
    </dialog>`;
