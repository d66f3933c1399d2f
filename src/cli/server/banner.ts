import { toId } from '../../core/id.ts';
import type { Demo } from '../../process/setup/create-demo.ts';
import type { Role } from '../../process/wiring-deps.ts';

export interface StartSummary {
  readonly role: Role;
  /** URL of the server. `null` for a worker without a port. */
  readonly url: string | null;
  /** Location of the data. */
  readonly place: string;
  /** Owner created by this start. `password` only if it was generated. */
  readonly owner: { readonly email: string; readonly password?: string } | null;
  /** Demo agent created by this start. Its key is printed only once. */
  readonly demo: Demo | null;
}

const roleTexts = {
  start: 'serves the API and executes',
  api: 'serves the API',
  worker: 'executes',
};

/** Printed to standard output once the process is ready. The log goes to standard error. */
export function banner({ role, url, place, owner, demo }: StartSummary): string {
  const rows: [string, string][] = [['Data', place]];
  if (url !== null && role !== 'worker') {
    rows.unshift(['Dashboard', `${url}/`], ['API', url], ['Reference', `${url}/docs`]);
  } else if (url !== null) rows.unshift(['Health', `${url}/healthz`]);
  const lines = [...rows.map(line), ...createdLines({ owner, demo }), line(['End', 'Ctrl-C'])];
  const example = demo && url !== null && role !== 'worker' ? curl(url, demo) : [];
  return ['', `Cueline ${roleTexts[role]}.`, '', ...lines, '', ...example].join('\n');
}

/** Lines with what this start created. No later start can print the credentials. */
export function createdLines({ owner, demo }: Pick<StartSummary, 'owner' | 'demo'>): string[] {
  const rows: [string, string][] = [];
  if (owner) rows.push(['Owner', owner.email]);
  if (owner?.password) rows.push(['Password', `${owner.password}   (shown once)`]);
  if (demo) {
    const { key, agentId, real, toolAgentId } = demo;
    rows.push(['Key', `${key}   (shown once)`], ['Agent', toId('agent', agentId)]);
    if (real) rows.push(['Agent', `${toId('agent', real.agentId)}   (${real.model})`]);
    rows.push(['Agent', `${toId('agent', toolAgentId)}   (calls a tool)`]);
  }
  return rows.map(line);
}

function line([name, value]: readonly [string, string]): string {
  return `  ${name.padEnd(10)} ${value}`;
}

/** Works when pasted: executes the demo agents and reads the latest record. */
function curl(url: string, { agentId, toolAgentId, real, key }: Demo): string[] {
  const pathOf = (id: string) => `${url}/api/v1/agents/${toId('agent', id)}`;
  const credential = `-H 'Authorization: Bearer ${key}'`;
  const bodyOf = (variables: string) => [
    `    ${credential} -H 'Content-Type: application/json' \\`,
    `    -d '{"variables": ${variables}}'`,
    '',
  ];
  const body = bodyOf('{"topic": "tides"}');
  const execute = [`  curl -sX POST ${pathOf(agentId)}/execute \\`, ...body];
  const read = `  curl -s '${pathOf((real ?? { agentId }).agentId)}/executions?limit=1' ${credential}`;
  const callTool = [
    'Execute the one that calls a tool. Its record, with each turn and call, is at',
    `${url}/agents/${toId('agent', toolAgentId)}/history`,
    ...['', `  curl -sX POST ${pathOf(toolAgentId)}/execute \\`, ...bodyOf('{}')],
  ];
  if (!real) {
    const title = 'Execute the demo agent and read its record:';
    return [title, '', ...execute, read, '', ...callTool];
  }
  return [
    ...['Execute the demo agent, which only repeats its prompt:', '', ...execute],
    ...[`Execute the one on ${real.model} and follow its answer:`, ''],
    `  curl -sNX POST ${pathOf(real.agentId)}/execute -H 'Accept: text/event-stream' \\`,
    ...[...body, 'Read its record, with tokens and cost:', '', read, '', ...callTool],
  ];
}
