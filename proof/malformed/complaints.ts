import type { Answer, Attack, Sent } from './attack.ts';
import type { Heard } from './wire.ts';

/** What is wrong with what came back, in words. */
export function complaints(attack: Attack, { answers, rest, closed }: Heard): string[] {
  const { requests } = attack;
  const found: string[] = [];
  if (!closed) found.push('the connection was left open');
  if (rest !== '' && !isGone(attack)) found.push(`no HTTP: ${rest.slice(0, 200)}`);
  if (answers.length > requests.length) {
    found.push(`${answers.length} answers to ${requests.length} requests`);
  }
  for (const [index, answer] of answers.entries()) {
    const sent = requests[index];
    if (answer.status >= 500 && !isFull(answer, sent))
      found.push(`${answer.status} ${answer.body}`);
    if (sent && sent.status !== null && answer.status !== sent.status) {
      found.push(`${answer.status} instead of ${sent.status}: ${answer.body.slice(0, 200)}`);
    }
    if (answer.status >= 400 && sent?.method !== 'HEAD') found.push(...outOfForm(answer));
  }
  const whole = requests.filter((one) => one.whole).length;
  const last = answers.at(-1)?.headers.get('connection');
  // Whoever ends its side before it has its answers counts as gone.
  if (attack.afterwards === 'read' && answers.length < whole && last !== 'close') {
    found.push(`${answers.length} answers to ${whole} whole requests, and no word of closing`);
  }
  return found.map(
    (what) => `${attack.what}: ${what}: ${JSON.stringify(textOf(attack).slice(0, 600))}`,
  );
}

/** Whoever does not wait may have had a part of an answer. */
function isGone({ afterwards }: Attack): boolean {
  return afterwards === 'abort' || afterwards === 'reset';
}

/** With these words. */
export const exportsFull = 'Too many exports';

/** Only so many exports are made at once, and attacks ask for many: who comes later is told so, which is no fault. */
function isFull({ status, headers, body }: Answer, sent: Sent | undefined): boolean {
  const asked = sent && Buffer.concat(sent.pieces).includes('/export');
  return (
    Boolean(asked) && status === 503 && headers.has('retry-after') && body.includes(exportsFull)
  );
}

function outOfForm({ status, headers, body }: Answer): string[] {
  const found: string[] = [];
  let problem: Record<string, unknown> = {};
  try {
    problem = JSON.parse(body) as Record<string, unknown>;
  } catch {
    found.push('the error is no JSON');
  }
  for (const field of ['error', 'message', 'code', 'requestId']) {
    if (typeof problem[field] !== 'string') found.push(`the error has no ${field}`);
  }
  if (headers.get('x-request-id') !== problem.requestId) found.push('X-Request-Id is another');
  if (!headers.get('content-type')?.startsWith('application/json')) found.push('it is not JSON');
  if (status === 401 && !headers.has('www-authenticate'))
    found.push('401 without WWW-Authenticate');
  if (status === 405 && !headers.has('allow')) found.push('405 without Allow');
  if (status === 429 && !headers.has('retry-after')) found.push('429 without Retry-After');
  return found.map((what) => `${status}: ${what}: ${body.slice(0, 200)}`);
}

function textOf({ requests }: Attack): string {
  return Buffer.concat(requests.flatMap(({ pieces }) => pieces)).toString('latin1');
}
