import { toId } from '../../core/id.ts';
import type { Demo } from '../../flow/workspace/create-demo.ts';
import type { Role } from '../../wiring.ts';

export interface Started {
  readonly role: Role;
  /** Where it answers; `null` for a worker without a port. */
  readonly url: string | null;
  /** Where the data lives. */
  readonly place: string;
  /** The owner, where this start made one; the password only where it was made up, and then never again. */
  readonly owner: { readonly email: string; readonly password?: string } | null;
  /** Something to execute, where this start made it; its key is shown this once. */
  readonly demo: Demo | null;
}

const does = { start: 'serves and works', api: 'serves', worker: 'works' };

/** What a human is told once a process is up, on standard output; the log goes to standard error. */
export function banner({ role, url, place, owner, demo }: Started): string {
  const rows: [string, string][] = [['Data', place]];
  if (url !== null && role !== 'worker') {
    rows.unshift(['Dashboard', `${url}/`], ['API', url], ['Reference', `${url}/docs`]);
  } else if (url !== null) rows.unshift(['Health', `${url}/healthz`]);
  const lines = [...rows.map(line), ...shownOnce({ owner, demo }), line(['End', 'Ctrl-C'])];
  const called = demo && url !== null && role !== 'worker' ? curl(url, demo) : [];
  return ['', `Cueline ${does[role]}.`, '', ...lines, '', ...called].join('\n');
}

/** What a start has made that no other start can tell. */
export function shownOnce({ owner, demo }: Pick<Started, 'owner' | 'demo'>): string[] {
  const rows: [string, string][] = [];
  if (owner) rows.push(['Owner', owner.email]);
  if (owner?.password) rows.push(['Password', `${owner.password}   (shown this once)`]);
  if (demo) rows.push(['Key', `${demo.key}   (shown this once)`]);
  return rows.map(line);
}

function line([name, value]: readonly [string, string]): string {
  return `  ${name.padEnd(10)} ${value}`;
}

/** Works as pasted: executes the demo agent, then waits for the outcome. */
function curl(url: string, { agentId, key }: Demo): string[] {
  const agent = `${url}/api/v1/agents/${toId('agent', agentId)}`;
  return [
    'Execute the demo agent, and read its history:',
    '',
    `  curl -sX POST ${agent}/execute \\`,
    `    -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' \\`,
    `    -d '{"variables": {"topic": "tides"}}'`,
    '',
    `  curl -s '${agent}/executions?limit=1' -H 'Authorization: Bearer ${key}'`,
    '',
  ];
}
