import { uuid7 } from '../src/core/id.ts';
import { levelMs } from '../src/core/statistics.ts';
import { logNormal, within } from './chance.ts';
import {
  drawModel,
  drawOutcome,
  drawSource,
  models,
  type Outcome,
  outcomes,
  sources,
  unauthorized,
} from './outcomes.ts';
import { textOf } from './words.ts';

/** One ended execution, as the service would have written it. */

export interface SeededAgent {
  readonly id: string;
  readonly name: string;
  readonly workspaceId: string;
  /** The user who runs it from the dashboard and has issued its keys. */
  readonly ownerId: string;
  /** In the order in which they were pinned. */
  readonly versions: readonly SeededVersion[];
  readonly keyIds: readonly string[];
}

export interface SeededVersion {
  readonly id: string;
  readonly label: string;
  readonly system: string;
  /** With `{{customer}}` and `{{question}}`. */
  readonly user: string;
}

/** What it adds to the statistics. The terms are places in their lists, a key that is absent being the one past the last. */
export interface Added {
  readonly agent: number;
  readonly atMs: number;
  readonly outcome: number;
  readonly source: number;
  readonly version: number;
  readonly model: number;
  readonly key: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** In units of 10⁻¹⁰ dollars, as exact as the column. */
  readonly cost: number;
  /** Null for what never ran. */
  readonly latencyMs: number | null;
}

export const recordColumns = `id, workspace_id, agent_id, prompt_version_id, api_key_id, executed_by, executed_at,
  started_at, completed_at, temperature, cost_usd, input_tokens, output_tokens, latency_ms, attempts, status, source,
  cost_known, agent_name, prompt_version_label, model, finish_reason, error_code, error, ip_address, user_agent,
  input_variables, system_prompt, user_prompt, output`;

/**
 * Answers the line for `copy` and what goes into the statistics.
 * @param share of the whole time that lies before it: versions follow each other
 */
export function makeRecord(
  agent: SeededAgent,
  place: { agent: number; atMs: number; share: number; rare: boolean },
): { line: string; added: Added } {
  const { atMs } = place;
  const outcome = place.rare ? unauthorized : drawOutcome();
  const how = outcomes[outcome] as Outcome;
  const source = place.rare ? 0 : drawSource();
  const byKey = source === 0;
  const key = byKey ? Math.floor(agent.keyIds.length * Math.random() ** 1.5) : agent.keyIds.length;
  const versionAt = Math.min(agent.versions.length - 1, Math.floor(place.share * 3));
  const version = agent.versions[versionAt] as SeededVersion;
  const modelAt = drawModel();
  const model = models[modelAt] ?? models[0];
  const texts = textsOf(how, version);
  const startedMs = how.started ? atMs + within(logNormal(8, 0.8), 1, 5_000) : null;
  const latencyMs = startedMs === null ? null : latencyOf(how, model.latencyMs, texts.output);
  const called = how.status === 'success' || how.errorCode === 'CONTENT_FILTERED';
  const inputTokens = called ? tokensOf(texts.system) + tokensOf(texts.user) : 0;
  const outputTokens = tokensOf(texts.output);
  const cost = inputTokens * model.inputPrice + outputTokens * model.outputPrice;
  const fields = [
    uuid7(atMs),
    agent.workspaceId,
    agent.id,
    version.id,
    byKey ? agent.keyIds[key] : null,
    source === 2 ? null : agent.ownerId,
    moment(atMs),
    startedMs === null ? null : moment(startedMs),
    moment(startedMs === null || latencyMs === null ? atMs : startedMs + latencyMs),
    0.2,
    dollars(cost),
    inputTokens,
    outputTokens,
    latencyMs ?? 0,
    how.attempts,
    how.status,
    sources[source],
    how.started && !called ? 'f' : 't',
    agent.name,
    version.label,
    model.name,
    how.status === 'success' ? 'stop' : null,
    how.errorCode,
    how.error,
    byKey ? address() : null,
    byKey ? userAgents[key % userAgents.length] : null,
    texts.variables,
    texts.system,
    texts.user,
    texts.output,
  ];
  let line = '';
  for (const field of fields) line += `${field ?? '\\N'}\t`;
  const terms = { outcome, source, version: versionAt, model: modelAt, key };
  return {
    line: `${line.slice(0, -1)}\n`,
    added: { agent: place.agent, atMs, ...terms, inputTokens, outputTokens, cost, latencyMs },
  };
}

/** The decimal text of a sum in units of 10⁻¹⁰ dollars. */
export function dollars(units: number): string {
  const digits = String(units).padStart(11, '0');
  return `${digits.slice(0, -10)}.${digits.slice(-10)}`;
}

export function customer(number: number): string {
  return `customer-${String(number).padStart(4, '0')}`;
}

const customers = 4_000;
const userAgents = ['cueline-client/0.1', 'python-httpx/0.28.1', 'okhttp/5.1.0'];
const none = { variables: null, system: null, user: null, output: null };

/** A refusal keeps nothing of what was sent, and a canceled run nothing of what was made of it. */
function textsOf({ status, started }: Outcome, version: SeededVersion) {
  if (!started && status !== 'canceled') return none;
  const name = customer(Math.floor(customers * Math.random() ** 2));
  const question = textOf(within(logNormal(190, 0.5), 150, 1_750));
  const variables = `{"customer":"${name}","question":"${question}"}`;
  if (status === 'canceled') return { ...none, variables };
  const user = version.user.replace('{{customer}}', name).replace('{{question}}', question);
  const prompts = { variables, system: version.system, user };
  if (status !== 'success') return { ...none, ...prompts };
  return { ...prompts, output: textOf(within(logNormal(280, 0.55), 200, 1_800)) };
}

function latencyOf({ status, errorCode }: Outcome, median: number, output: string | null): number {
  if (errorCode === 'MODEL_TIMEOUT') return 300_000 + Math.floor(Math.random() * 200);
  const longer = output === null ? 1 : 0.5 + output.length / 800;
  const latencyMs = within(logNormal(median * longer, 0.55), 40, 290_000);
  return status === 'canceled' ? Math.floor(latencyMs * Math.random()) : latencyMs;
}

function tokensOf(text: string | null): number {
  return text === null ? 0 : Math.ceil(text.length / 4.2);
}

function address(): string {
  return `203.0.113.${Math.floor(Math.random() * 254) + 1}`;
}

/** `toISOString`, which is a tenth of all work here, with the day kept from the time before. */
function moment(ms: number): string {
  const dayMs = Math.floor(ms / levelMs.day) * levelMs.day;
  if (dayMs !== day.ms) day = { ms: dayMs, text: new Date(dayMs).toISOString().slice(0, 11) };
  let rest = ms - dayMs;
  const hours = Math.floor(rest / levelMs.hour);
  rest -= hours * levelMs.hour;
  const minutes = Math.floor(rest / levelMs.minute);
  rest -= minutes * levelMs.minute;
  return `${day.text}${two[hours]}:${two[minutes]}:${seconds[rest]}Z`;
}

let day = { ms: Number.NaN, text: '' };
const two = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'));
const seconds = Array.from({ length: 60_000 }, (_, ms) => (ms / 1_000).toFixed(3).padStart(6, '0'));
