// The page of the orchestrator: no build step, no framework. It shows what the server sends, and asks it for two things.
const find = (selector) => document.querySelector(selector);
const stages = ['deploy-staging', 'deploy', 'done'];
const tones = { live: 'good', dead: 'bad', unknown: 'warn', succeeded: 'good', failed: 'bad', running: 'warn' };

/** An element with text, a class, and children: text is never read as HTML. */
function element(name, { text, tone, title, key, children = [] } = {}) {
  const made = document.createElement(name);
  if (text !== undefined && text !== null) made.textContent = String(text);
  if (tone) made.className = tone;
  if (title) made.title = title;
  if (key !== undefined) made.dataset.key = key;
  made.append(...children);
  return made;
}
const cell = (text, tone) => element('td', { text, tone });
const seconds = (ms) => (ms === null ? '–' : `${(ms / 1000).toFixed(1)} s`);

/** Puts rows into a table: a cell that has not changed stays the same, so that focus and half a click survive. */
function place(body, rows) {
  const before = new Map([...body.children].map((row) => [row.dataset.key, row]));
  const placed = rows.map((row) => {
    const old = before.get(row.dataset.key);
    [...(old ? row.children : [])].forEach((cell, index) => {
      if (old.children[index].outerHTML !== cell.outerHTML) old.children[index].replaceWith(cell);
    });
    return old ?? row;
  });
  const same = placed.length === body.children.length && placed.every((row, index) => row === body.children[index]);
  if (!same) body.replaceChildren(...placed);
}

function leaseRow({ taskId, actor, stage, fencingToken, ageMs, expiresInMs, verdict, reason, pid, host, sameProcess }) {
  const meter = element('meter');
  Object.assign(meter, { min: 0, max: 30_000, low: 10_000, value: Math.max(0, expiresInMs ?? 0) });
  const take = element('button', { text: 'Take away…' });
  take.onclick = () => release({ taskId, fencingToken });
  return element('tr', {
    key: fencingToken,
    children: [
      cell(taskId),
      cell(actor),
      cell(stage),
      cell(fencingToken, 'number'),
      cell(seconds(ageMs), 'number'),
      element('td', { children: [meter, seconds(expiresInMs)] }),
      element('td', { children: [element('b', { text: verdict, tone: tones[verdict] }), ` ${reason}`] }),
      element('td', { text: sameProcess ? `this one, pid ${pid}` : `pid ${pid}`, title: host }),
      element('td', { children: [take] }),
    ],
  });
}

function taskRow({ id, repo, sha, stage }, jobs) {
  const job = jobs.findLast((each) => each.task_id === id);
  const here = stages.indexOf(stage);
  const last = stages.length - 1;
  const way = stages.flatMap((text, index) => [
    index > 0 ? ' → ' : '',
    element('span', { text, tone: index < here || here === last ? 'passed' : index === here ? 'here' : 'quiet' }),
  ]);
  return element('tr', {
    key: id,
    children: [
      cell(id),
      cell(repo),
      element('td', { children: [element('code', { text: sha })] }),
      element('td', { tone: 'way', children: way }),
      cell(job?.status ?? '–', tones[job?.status] ?? 'quiet'),
      cell(job?.run_id ?? '–'),
      cell(job?.pid ?? '–'),
      element('td', { children: [element('time', { text: job?.started_at?.slice(11, 19) ?? '–' })] }),
    ],
  });
}

const names = { taskId: 'task', jobId: 'job', runId: 'run', fencingToken: 'token' };
const dull = ['guarded', 'provisional', 'expiresAtMs'];
const words = (name) => name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

/** Adds an event on top; what was told before in the same words is counted instead of repeated. */
function tell({ at, event: { type, severity, ...facts } }) {
  const tone = { alert: 'bad', warning: 'warn', debug: 'quiet' }[severity];
  const worth = Object.entries(facts).filter(([name, fact]) => fact !== null && !dull.includes(name));
  const text = worth.map(([name, fact]) => `${names[name] ?? words(name)} ${fact}`).join(' · ');
  const key = `${type} ${text}`;
  const lines = find('#events');
  const old = [...lines.children].find((line) => line.dataset.key === key);
  const times = Number(old?.dataset.times ?? 0) + 1;
  const line = element('li', {
    key,
    children: [
      element('time', { text: at.slice(11, 23) }),
      element('b', { text: type, tone }),
      element('span', { text: times > 1 ? `${text} (${times} times)` : text }),
    ],
  });
  line.dataset.times = times;
  old?.remove();
  lines.prepend(line);
  while (lines.children.length > 200) lines.lastChild.remove();
}

function show({ mode, leases, tasks, jobs, counters }) {
  find('#mode').textContent = `guard ${mode}`;
  find('#mode').className = `badge ${{ on: 'good', draining: 'warn', off: 'bad' }[mode]}`;
  place(find('#leases tbody'), leases.map(leaseRow));
  place(
    find('#tasks tbody'),
    tasks.map((task) => taskRow(task, jobs)),
  );
  const counted = Object.entries(counters).filter(([, count]) => count > 0);
  find('#counters').replaceChildren(
    ...counted.map(([name, count]) =>
      element('div', { children: [element('dt', { text: words(name) }), element('dd', { text: count })] }),
    ),
  );
}

/** Asks the server for something, and tells what it answered if that is not yes. */
async function ask(path, body) {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) });
  const answer = await response.json();
  find('#answer').textContent = response.ok ? '' : answer.message;
}

function release(lease) {
  const dialog = find('#release');
  const form = dialog.querySelector('form');
  form.reset();
  dialog.onclose = () => {
    const { by, reason } = Object.fromEntries(new FormData(form));
    if (dialog.returnValue === 'release') ask('/transition-lease/release', { ...lease, by, reason });
  };
  dialog.returnValue = '';
  dialog.showModal();
}

find('#add').onsubmit = (submit) => {
  submit.preventDefault();
  ask('/tasks', Object.fromEntries(new FormData(submit.target)));
  submit.target.reset();
};

const source = new EventSource('/events');
source.onopen = () => {
  find('#events').replaceChildren();
  find('#connection').textContent = 'live';
};
source.onerror = () => {
  find('#connection').textContent = 'connection lost, trying again';
};
source.addEventListener('state', ({ data }) => show(JSON.parse(data)));
source.addEventListener('told', ({ data }) => tell(JSON.parse(data)));
