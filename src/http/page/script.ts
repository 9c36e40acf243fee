/** The script of the page: it shows what the server sends, and asks it for what its operator orders. */
export const script = String.raw`
import { duration, element, find, listed, place, shown, table, toned, words } from './tables.js';

const { base, orders } = document.documentElement.dataset;
const mayOrder = orders === 'yes';

/** What is known now of whatever has a button: the button itself may be older. */
const abouts = new Map();

/** A button that opens a dialog; without orders there is none. */
function order(text, name, dialog, about, body) {
  abouts.set(name, about);
  const button = element('button', { text, 'aria-label': name, 'aria-haspopup': 'dialog', 'data-body': JSON.stringify(body) });
  button.onclick = () => ask(find(dialog), abouts.get(name), body);
  return mayOrder ? [button] : [];
}

function explainer(taskId) {
  const button = element('button', { text: 'Explain', 'aria-label': 'Explain task ' + taskId });
  button.onclick = () => explain(taskId);
  return button;
}

const processOf = ({ pid, host, sameProcess }) =>
  element('span', { text: (sameProcess ? 'this one, ' : '') + 'pid ' + (pid ?? '?'), title: host ?? 'no host' });

const leaseHeads = ['task', 'owner', 'leaving', 'token', 'held for', 'expires in', 'verdict', 'process', 'orders'];
function leaseRow(lease) {
  const { taskId, actor, stage, fencingToken, ageMs, expiresInMs, verdict, reason } = lease;
  const about = 'Task ' + taskId + (stage === null ? '' : ', leaving ' + stage) + ': held by ' + actor + ' under token ' + fencingToken + ' for ' + duration(ageMs) + ', ' + verdict + ' (' + reason + ').';
  const [text, dialog] = verdict === 'dead' ? ['Abandon', '#abandon'] : ['Release', '#release'];
  const given = order(text + '…', text + ' task ' + taskId + ', token ' + fencingToken, dialog, about, { taskId, fencingToken });
  return {
    key: fencingToken,
    cells: [taskId, actor, stage, fencingToken, duration(ageMs), duration(expiresInMs), [toned(verdict), ' ' + reason], processOf(lease), [explainer(taskId), ...given]],
  };
}

const transitionHeads = ['task', 'what to do', 'effects', 'orders'];
const advice = { redrive: 'run its handler again', converge: 'run its handler again: what was applied is not applied again', hold: 'look outside, then say what became of its effects' };
const transitionRow = ({ taskId, decision, effects }) => ({
  key: taskId,
  cells: [taskId, [toned(decision), ' ' + (advice[decision] ?? '')], effects.map(({ effect }) => effect).join(', ') || 'none', [explainer(taskId)]],
});

const effectHeads = ['task', 'effect', 'key', 'token', 'begun at', 'state', 'why', 'orders'];
function effectRow({ taskId, effect, key, fencingToken, startedAtMs, state, message }) {
  const begun = startedAtMs === null ? '–' : new Date(startedAtMs).toISOString().slice(0, 19).replace('T', ' ');
  const resolve = order('Resolve…', 'Resolve ' + effect + ' of task ' + taskId, '#resolve', effect + ' ' + key + ' of task ' + taskId + ', begun at ' + begun + '.', { taskId, effect, key });
  return { key: JSON.stringify([taskId, effect, key]), cells: [taskId, effect, element('code', { text: key }), fencingToken, begun, toned(state), message, [...resolve]] };
}

const own = ['mode', 'liveness', 'at', 'leases', 'truncated', 'unreadable', 'jobCounts', 'impossibleQueued', 'unfinishedEffects', 'counters', 'transitions', 'underWay'];

/** What the application adds: each of its lists as a table. */
function showAdded(queue) {
  for (const [name, items] of Object.entries(queue)) {
    if (own.includes(name) || !Array.isArray(items)) continue;
    const id = 'added-' + name;
    // Holds without a row are rare: they have a table when there are any.
    if (name === 'unguarded' && items.length === 0 && document.getElementById(id) === null) continue;
    if (find('#added').querySelector('#' + CSS.escape(id)) === null) {
      const where = element('div', { id, tabindex: '-1' });
      const title = element('h2', { text: words(name), id: id + '-title' });
      find('#added').append(element('section', { 'aria-labelledby': id + '-title', children: [title, where, element('p', { text: 'None.', tone: 'empty' })] }));
    }
    place(document.getElementById(id), listed(items, id + '-title'), items.length);
  }
}

function show(queue) {
  abouts.clear();
  const { mode, leases, transitions, counters } = queue;
  find('#mode').textContent = 'guard ' + mode;
  find('#mode').className = 'badge ' + ({ on: 'good', off: 'bad' }[mode] ?? 'warn');
  const effects = transitions.flatMap(({ taskId, effects }) => effects.filter(({ state }) => state === 'started').map((effect) => ({ taskId, ...effect })));
  place(find('#leases'), table('leases-title', leaseHeads, leases.map(leaseRow)), leases.length);
  place(find('#transitions'), table('transitions-title', transitionHeads, transitions.map(transitionRow)), transitions.length);
  place(find('#effects'), table('effects-title', effectHeads, effects.map(effectRow)), effects.length);
  showAdded(queue);
  const counted = Object.entries(counters).filter(([, count]) => count > 0);
  find('#counters').replaceChildren(
    ...counted.map(([name, count]) => element('div', { children: [element('dt', { text: words(name) }), element('dd', { text: count })] })),
  );
}

const names = { taskId: 'task', jobId: 'job', runId: 'run', fencingToken: 'token' };
const dull = ['guarded', 'provisional', 'expiresAtMs'];

/** Adds an event on top; what was told before in the same words is counted instead of repeated. */
function tell({ at, event: { type, severity, ...facts } }) {
  const tone = { alert: 'bad', warning: 'warn', debug: 'quiet' }[severity];
  const worth = Object.entries(facts).filter(([name, fact]) => fact !== null && !dull.includes(name));
  const text = worth.map(([name, fact]) => (names[name] ?? words(name)) + ' ' + (typeof fact === 'object' ? JSON.stringify(fact) : fact)).join(' · ');
  const key = type + ' ' + text;
  const lines = find('#events');
  const old = [...lines.children].find((line) => line.dataset.key === key);
  const times = Number(old?.dataset.times ?? 0) + 1;
  const line = element('li', {
    'data-key': key,
    'data-times': times,
    children: [element('time', { text: at.slice(11, 23) }), element('b', { text: type, tone }), element('span', { text: times > 1 ? text + ' (' + times + ' times)' : text })],
  });
  old?.remove();
  lines.prepend(line);
  while (lines.children.length > 200) lines.lastChild.remove();
}

async function explain(taskId) {
  find('#explain').task.value = taskId;
  const response = await fetch(base + '/tasks/' + encodeURIComponent(taskId) + '/explain');
  const answer = await response.json();
  say(response.ok ? '' : answer.message);
  find('#explanation').replaceChildren(...(response.ok ? [shown(answer, 'task-title')] : []));
  if (response.ok) find('#explanation').focus();
}

function say(text) {
  find('#answer').textContent = text;
}

/** Asks the operator, and then the server; what it answered is told. */
function ask(dialog, about, body) {
  const form = dialog.querySelector('form');
  form.reset();
  form.by.value = sessionStorage.getItem('by') ?? '';
  dialog.querySelector('.about').textContent = about;
  dialog.returnValue = '';
  form.querySelector('.leave').onclick = () => dialog.close();
  dialog.onclose = () => {
    if (dialog.returnValue === 'order') void send(paths[dialog.id], { ...body, ...Object.fromEntries(new FormData(form)) });
  };
  dialog.showModal();
}

const paths = { release: '/transition-lease/release', resolve: '/effects/resolve', abandon: '/transitions/abandon' };

async function send(path, body) {
  sessionStorage.setItem('by', body.by);
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(base + path, { method: 'POST', headers, body: JSON.stringify(body) });
  const answer = await response.json();
  say(response.ok ? 'Done.' : answer.message);
}

find('#explain').onsubmit = (submit) => {
  submit.preventDefault();
  void explain(find('#explain').task.value);
};
document.addEventListener('keydown', ({ key }) => key === 'Escape' && say(''));

const source = new EventSource(base + '/events');
const connected = (text) => {
  if (find('#connection').textContent !== text) find('#connection').textContent = text;
};
source.onopen = () => {
  find('#events').replaceChildren();
};
source.onerror = () => {
  connected('connection lost, trying again');
};
source.addEventListener('state', ({ data }) => {
  connected(mayOrder ? 'live' : 'live, to look at only');
  show(JSON.parse(data));
});
source.addEventListener('trouble', () => connected('the database does not answer: what is shown is old'));
source.addEventListener('told', ({ data }) => tell(JSON.parse(data)));
`;
