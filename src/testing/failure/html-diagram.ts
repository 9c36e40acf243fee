import { startMs } from '../world/start-ms.js';
import { escaped } from './escaped.js';
import { pageStyle } from './page-style.js';
import type { Beat, Story } from './story.js';
import { svgDiagram } from './svg-diagram.js';

/**
 * A failure as one self-contained page: what went wrong, how to read the picture, the picture, every step in full, and
 * the line that runs it again. It has no script and loads nothing.
 */
export function htmlDiagram(story: Story): string {
  const picture =
    story.beats.length === 0 ? '' : `${legend}\n${svgDiagram(story)}\n${stepTable(story)}\n${again(story)}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(story.violated)}</title>
<style>${pageStyle}</style>
</head>
<body>
<h1>✗ ${escaped(story.violated)}</h1>
${introduction(story)}
${picture}
</body>
</html>
`;
}

function introduction({ beats, lanes, store }: Story): string {
  if (beats.length === 0) return '<p>No single schedule is to blame.</p>';
  const names = [...new Set(lanes.map((lane) => lane.name))].join(', ');
  return `<p>This is the shortest schedule found that breaks the rule: <b>${beats.length} steps</b> of ${escaped(names)} on ${escaped(store)}.
Read it from top to bottom: between two steps nothing else happens. Times are counted from the beginning, when the virtual
clock stood at ${startMs.toLocaleString('en')} ms: that is what rows and statements show.</p>`;
}

const legend = `<div class="legend">
<span><b>Column</b>: one start of a process; its line is thick while it runs</span>
<span><b>→</b> a statement goes to the database</span>
<span><b>⇠</b> its answer comes back</span>
<span><b class="mono">+ − ~</b> rows that were added, removed, changed</span>
<span><b>✖</b> killed</span>
<span><b>dashed line</b>: every clock jumps</span>
<span><b style="color:var(--bad)">red</b>: where the rule breaks</span>
<span class="soft">Point at a step to see its whole statement.</span>
</div>`;

function stepTable(story: Story): string {
  const rows = story.beats.map((beat, at) => tableRow(beat, { story, last: at === story.beats.length - 1 }));
  return `<h2>Every step in full</h2>
<table>
<tr><th>step</th><th>time</th><th>who</th><th>what</th><th>answer</th><th>rows</th></tr>
${rows.join('\n')}
</table>`;
}

function tableRow(beat: Beat, { story, last }: { readonly story: Story; readonly last: boolean }): string {
  const lane = story.lanes[beat.lane];
  const who = lane === undefined ? 'the world' : `${lane.name} (pid ${lane.pid})`;
  const changes = beat.changes.map(({ kind, table, text }) => `${kind} in ${table}: ${text}`);
  const cells = [
    String(beat.number),
    `${beat.afterMs} ms`,
    escaped(who),
    `<span class="mono">${escaped(beat.what)}</span>`,
    `<span class="mono">${escaped(beat.answer)}</span>`,
    changes.map((change) => `<span class="mono">${escaped(change)}</span>`).join('<br>'),
  ];
  return `<tr${last ? ' class="wrong"' : ''}>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`;
}

const again = (story: Story) => `<h2>Run it again</h2>
<pre>${escaped(story.again)}</pre>`;
