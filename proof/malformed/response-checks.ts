import type { Answer, Attack, Sent } from './attack.ts';
import type { Received } from './wire.ts';

/** Describes everything wrong with the responses. */
export function checkResponses(attack: Attack, { answers, rest, closed }: Received): string[] {
  const { requests } = attack;
  const found: string[] = [];
  if (!closed) found.push('the connection stayed open');
  if (rest !== '' && !isAborted(attack)) found.push(`not HTTP: ${rest.slice(0, 200)}`);
  if (answers.length > requests.length) {
    found.push(`${answers.length} responses to ${requests.length} requests`);
  }
  for (const [index, answer] of answers.entries()) {
    const sent = requests[index];
    if (answer.status >= 500 && !isExportLimit(answer, sent))
      found.push(`${answer.status} ${answer.body}`);
    if (sent && sent.status !== null && answer.status !== sent.status) {
      found.push(`${answer.status} instead of ${sent.status}: ${answer.body.slice(0, 200)}`);
    }
    if (answer.status >= 400 && sent?.method !== 'HEAD') found.push(...checkError(answer));
  }
  const whole = requests.filter((one) => one.whole).length;
  const last = answers.at(-1)?.headers.get('connection');
  // A client that ends its side early may miss responses.
  if (attack.afterwards === 'read' && answers.length < whole && last !== 'close') {
    found.push(`${answers.length} responses to ${whole} whole requests without Connection: close`);
  }
  return found.map(
    (what) => `${attack.what}: ${what}: ${JSON.stringify(textOf(attack).slice(0, 600))}`,
  );
}

/** The client may have received a part of a response. */
function isAborted({ afterwards }: Attack): boolean {
  return afterwards === 'abort' || afterwards === 'reset';
}

/** Part of the error message. */
export const exportsFull = 'Too many exports';

/** The service limits concurrent exports, so attacks may get this 503. */
function isExportLimit({ status, headers, body }: Answer, sent: Sent | undefined): boolean {
  const isExport = sent && Buffer.concat(sent.pieces).includes('/export');
  return (
    Boolean(isExport) && status === 503 && headers.has('retry-after') && body.includes(exportsFull)
  );
}

/** The form of OpenAI has no request id. */
function checkOpenAIError(headers: Answer['headers'], error: object | null): string[] {
  const fields: Record<string, unknown> = { ...error };
  const missing = ['message', 'type', 'code'].filter((name) => typeof fields[name] !== 'string');
  const found = missing.map((name) => `the error has no ${name}`);
  return headers.has('x-request-id') ? found : [...found, 'there is no X-Request-Id'];
}

function checkError({ status, headers, body }: Answer): string[] {
  const found: string[] = [];
  let problem: Record<string, unknown> = {};
  try {
    problem = JSON.parse(body) as Record<string, unknown>;
  } catch {
    found.push('the error is not JSON');
  }
  if (typeof problem.error === 'object') return checkOpenAIError(headers, problem.error);
  for (const field of ['error', 'message', 'code', 'requestId']) {
    if (typeof problem[field] !== 'string') found.push(`the error has no ${field}`);
  }
  if (headers.get('x-request-id') !== problem.requestId) found.push('X-Request-Id differs');
  if (!headers.get('content-type')?.startsWith('application/json'))
    found.push('the Content-Type is not JSON');
  if (status === 401 && !headers.has('www-authenticate'))
    found.push('401 without WWW-Authenticate');
  if (status === 405 && !headers.has('allow')) found.push('405 without Allow');
  if (status === 429 && !headers.has('retry-after')) found.push('429 without Retry-After');
  return found.map((what) => `${status}: ${what}: ${body.slice(0, 200)}`);
}

function textOf({ requests }: Attack): string {
  return Buffer.concat(requests.flatMap(({ pieces }) => pieces)).toString('latin1');
}
