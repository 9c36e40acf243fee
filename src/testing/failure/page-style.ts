/** The style of a failure's page; light and dark. */
export const pageStyle = `
:root { --ink: #1b1f24; --soft: #59636e; --line: #d1d9e0; --paper: #fff; --band: #f6f8fa; --go: #0969da; --bad: #cf222e; --warn: #9a6700; --good: #1a7f37; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9198a1; --line: #3d444d; --paper: #0d1117; --band: #151b23; --go: #4493f8; --bad: #f85149; --warn: #d29922; --good: #3fb950; } }
body { margin: 24px auto; max-width: 1280px; padding: 0 24px; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 22px; line-height: 1.3; margin: 0 0 4px; color: var(--bad); }
p { margin: 4px 0 12px; max-width: 90ch; }
.soft { color: var(--soft); }
.legend { display: flex; flex-wrap: wrap; gap: 4px 22px; margin: 12px 0; padding: 10px 14px; background: var(--band); border: 1px solid var(--line); border-radius: 8px; font-size: 13px; }
code, pre, .mono { font-family: ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; }
pre { background: var(--band); border: 1px solid var(--line); border-radius: 8px; padding: 10px 14px; overflow-x: auto; }
svg { display: block; width: 100%; height: auto; margin: 8px 0 20px; }
svg text { font-family: system-ui, sans-serif; font-size: 13px; fill: var(--ink); }
svg .mono { font-family: ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; font-size: 12px; }
svg .head { font-weight: 600; font-size: 14px; }
svg .soft { fill: var(--soft); font-size: 12px; }
svg .lane { stroke: var(--line); stroke-width: 2; }
svg .alive { stroke: var(--go); stroke-width: 4; }
svg .arrow { stroke: var(--go); stroke-width: 1.5; fill: none; }
svg .back { stroke: var(--soft); stroke-width: 1.5; stroke-dasharray: 4 3; fill: none; }
svg .refused { stroke: var(--warn); }
svg .dot { fill: var(--go); }
svg .dead { stroke: var(--bad); stroke-width: 3; }
svg .clock { stroke: var(--warn); stroke-width: 1.5; stroke-dasharray: 7 5; }
svg .row:hover rect.hit { fill: var(--band); }
svg rect.hit { fill: transparent; }
svg rect.wrong { fill: var(--bad); opacity: 0.12; }
svg .bad { fill: var(--bad); font-weight: 600; }
svg .warn { fill: var(--warn); }
svg .added { fill: var(--good); }
svg .removed { fill: var(--bad); }
svg .changed { fill: var(--warn); }
table { border-collapse: collapse; width: 100%; font-size: 13px; }
td, th { border-top: 1px solid var(--line); padding: 6px 10px; text-align: left; vertical-align: top; overflow-wrap: anywhere; }
th { color: var(--soft); font-weight: 600; white-space: nowrap; }
td:nth-child(-n + 3) { white-space: nowrap; }
tr.wrong td { background: color-mix(in srgb, var(--bad) 12%, transparent); }
`;
