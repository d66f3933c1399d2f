import { setTimeout as delay } from 'node:timers/promises';
import { noLimits } from '../src/core/agent/limits.ts';
import type { TestAgent } from './agents.ts';
import type { ApiResponse } from './call.ts';
import type { Service } from './service.ts';

/** Uploads batches and follows them. */

/** Rate limits of a key that no batch reaches. */
export const unlimited = noLimits;

export interface TestLine {
  readonly id: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly user?: string;
  readonly session?: string;
  readonly tags?: readonly string[];
  readonly metadata?: Readonly<Record<string, string>>;
}

/** Lines with the variable `name`. */
export function namedLines(count: number, prefix = 'line'): TestLine[] {
  return Array.from({ length: count }, (_, index) => {
    return { id: `${prefix}-${index + 1}`, variables: { name: `${prefix} ${index + 1}` } };
  });
}

export function jsonLines(lines: readonly unknown[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

export interface UploadOptions {
  /** The secret of a key. */
  readonly key: string;
  readonly idempotencyKey?: string;
  readonly contentType?: string;
}

export function upload(
  service: Service,
  { path }: Pick<TestAgent, 'path'>,
  body: string,
  { key, idempotencyKey, contentType = 'application/jsonl' }: UploadOptions,
): Promise<ApiResponse> {
  const headers = {
    'content-type': contentType,
    ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
  };
  return service.call('POST', `${path}/batches`, { key, body, headers });
}

// biome-ignore lint/suspicious/noExplicitAny: checked against the contract; tests read any field
type Wire = any;

/** Reads a batch until it satisfies the condition. Fails if its counts do not add up in any read. */
export async function batchWhen(
  service: Service,
  statusUrl: string,
  key: string,
  condition: (batch: Wire) => boolean = ({ completedAt }) => completedAt !== null,
): Promise<Wire> {
  for (;;) {
    const { status, body } = await service.call('GET', statusUrl, { key });
    if (status !== 200) throw new Error(`${status} ${body?.message}`);
    const { total, ...rest } = body.counts as Record<string, number>;
    const sum = Object.values(rest).reduce((a, b) => a + b, 0);
    if (sum !== total) throw new Error(`counts do not add up: ${JSON.stringify(body.counts)}`);
    if (condition(body)) return body;
    await delay(10);
  }
}

export async function resultsOf(
  service: Pick<Service, 'url'>,
  statusUrl: string,
  key: string,
  query = '',
): Promise<Wire[]> {
  const response = await fetch(`${service.url}${statusUrl}/results${query}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status} ${text}`);
  const lines = text.split('\n');
  if (lines.pop() !== '') throw new Error('The last line has no end.');
  return lines.map((line) => JSON.parse(line));
}
