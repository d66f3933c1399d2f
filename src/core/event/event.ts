import { inertText } from '../inert-text.ts';

/** Outbound events: what they report, and the form in which receivers get them. */

export const executionEventTypes = [
  'execution.succeeded',
  'execution.failed',
  'execution.canceled',
  'execution.refused',
] as const;

export const workflowRunEventTypes = [
  'workflow_run.succeeded',
  'workflow_run.failed',
  'workflow_run.canceled',
] as const;

export const budgetEventTypes = ['budget.threshold', 'budget.exhausted', 'budget.overrun'] as const;

/** What an endpoint gets that says nothing else. */
export const alertEventTypes = ['alert.fired', 'alert.cleared'] as const;

export const eventTypes = [
  ...executionEventTypes,
  ...workflowRunEventTypes,
  'batch.completed',
  'agent.pinned',
  'agent.moved',
  'agent.deleted',
  'key.revoked',
  'key.expiring',
  'provider.failing',
  'provider.recovered',
  'quota.threshold',
  'quota.exhausted',
  ...budgetEventTypes,
  ...alertEventTypes,
  'endpoint.disabled',
  'ping',
] as const;
export type EventType = (typeof eventTypes)[number];

/** An event to write, if an endpoint subscribes to it. */
export interface NewEvent {
  readonly workspaceId: string;
  readonly type: EventType;
  /** The database time of what it reports. */
  readonly atMs: number;
  /** The stored id of what it is about; null for a provider and for the quota. */
  readonly subject: string | null;
  /** For events of executions and agents. */
  readonly agentId: string | null;
  /** The end user whom `data` names. */
  readonly user: string | null;
  /** The JSON text of an object: the thin data without the sequence. */
  readonly data: string;
}

/** An event as stored. */
export interface StoredEvent {
  readonly id: string;
  readonly type: EventType;
  readonly at: Date;
  readonly sequence: number;
  /** JSON text, without the sequence. */
  readonly data: string;
}

/** The JSON text of the thin data. */
export function thinData({ data, sequence }: Pick<StoredEvent, 'data' | 'sequence'>): string {
  return `${data.slice(0, -1)}${data === '{}' ? '' : ','}"sequence":${sequence}}`;
}

/** The JSON text of what is sent. */
export function eventBody({ type, at }: Pick<StoredEvent, 'type' | 'at'>, data: string): string {
  return `{"type":"${type}","timestamp":"${at.toISOString()}","data":${data}}`;
}

/** A larger body is sent thin. */
export const bodyBytesMax = 262_144;

/** What `full` adds, read when it is sent. */
export interface FullData {
  readonly outputText: string | null;
  /** JSON text. */
  readonly outputJson: string | null;
  /** JSON text. */
  readonly inputVariables: string | null;
}

/**
 * The body for an endpoint with `payload: full`.
 * @param full `gone` if the data has been deleted, `large` if it is too large to be read
 */
export function fullBody(event: StoredEvent, full: FullData | 'gone' | 'large'): string {
  const thin = thinData(event);
  if (full === 'gone') return eventBody(event, `${thin.slice(0, -1)},"gone":true}`);
  const truncated = eventBody(event, `${thin.slice(0, -1)},"truncated":true}`);
  if (full === 'large') return truncated;
  const { outputText, outputJson, inputVariables } = full;
  const added = `"outputText":${JSON.stringify(outputText)},"outputJson":${outputJson},"inputVariables":${inputVariables}`;
  const body = eventBody(event, `${thin.slice(0, -1)},${added}}`);
  return Buffer.byteLength(body) > bodyBytesMax ? truncated : body;
}

/** The body that Slack, Teams and the like show: one line of text. */
export function chatBody(event: StoredEvent): string {
  const data = JSON.parse(event.data) as Record<string, unknown>;
  const texts = event.type.startsWith('alert.') ? alertTexts(event.type, data) : null;
  const text = (texts ?? [`*${event.type}*`, ...namedValues(data)]).join(' · ');
  return JSON.stringify({
    text: text.length > chatCharsMax ? `${text.slice(0, chatCharsMax)}…` : text,
  });
}

const chatCharsMax = 3_000;

/** A value of a caller. Slack reads `<…>` as a link or a mention, Teams reads HTML; both decode entities. */
function chatText(value: unknown): string {
  const text = inertText(String(value));
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function namedValues(data: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(data).flatMap(([name, value]) =>
    typeof value === 'string' || typeof value === 'number'
      ? `${name}: ${typeof value === 'number' ? value : chatText(value)}`
      : [],
  );
}

/** Such as `*Alert fired: Failures*` and `failureRate is 0.25, threshold 0.1`. */
function alertTexts(type: string, data: Readonly<Record<string, unknown>>): string[] {
  const { name, metric, value, threshold, alertId } = data;
  const measured = value === null ? 'has no data' : `is ${value}`;
  const verb = type === 'alert.fired' ? 'fired' : 'cleared';
  return [
    `*Alert ${verb}: ${chatText(name)}*`,
    `${metric} ${measured}, threshold ${threshold}`,
    String(alertId),
  ];
}
