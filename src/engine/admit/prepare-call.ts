import {
  type ComparedFormats,
  compareFormats,
  compareFormatsJob,
  conversationDigestInput,
  type ParsedBody,
} from '../../core/agent/conversation.ts';
import type { Template } from '../../core/agent/prompt.ts';
import { sizeOfTemplate } from '../../core/agent/prompt-size.ts';
import type { StoredVariables } from '../../core/agent/stored-files.ts';
import { readTextValuesJob } from '../../core/agent/text-values.ts';
import {
  bodyDigestInput,
  type DigestInput,
  digestJob,
  digestOf,
  type ExecuteBody,
  readVariables,
  type UnparsedBody,
} from '../../core/agent/variables.ts';
import type { AllowedHosts } from '../../core/allowed-hosts.ts';
import { type Compute, inlineCharsMax, JobTooLarge } from '../../core/compute.ts';
import { needsBound } from '../../core/execution/check-cost.ts';
import {
  type AgentAtAdmission,
  type ExecuteCall,
  type Preparation,
  resolveCall,
  sizeQuestionOf,
} from '../../core/execution/decide.ts';
import {
  asSent,
  examineVariablesJob,
  isSameQuestion,
} from '../../core/execution/examine-variables.ts';
import {
  type MeasuredCall,
  measureCall,
  measureCallJob,
} from '../../core/execution/measure-call.ts';

/**
 * What a call needs beyond a look at its body: to be parsed (if it is long), hashed (for its idempotency key), examined
 * (lists, files, schemas), and measured (under a limit of cost). Nothing of this happens before the caller is known, and nothing while rows are locked.
 *
 * So admission may see a call twice. The first time, it makes all checks up to the body, and returns the call unprepared,
 * without spending anything; the second time, it decides as if it had not seen the call before. A caller and agent that
 * were seen lately are expected to be the same again (`recentTargets` in `admit.ts`): their calls are prepared in advance.
 */

/** The part that does not depend on the agent. A body that takes too much memory is refused in its turn. */
export async function parseAndHash<Parsed extends ParsedBody>(
  compute: Compute,
  workspaceId: string,
  {
    body,
    idempotencyKey,
  }: {
    readonly body: Parsed | UnparsedBody<Parsed>;
    readonly idempotencyKey: string | null;
  },
): Promise<{ readonly body: Parsed | ExecuteBody; readonly digest: Buffer | null }> {
  try {
    const parsed = body.kind === 'unparsed' ? await body.parse(workspaceId) : body;
    const digest = idempotencyKey === null ? null : await hash(compute, workspaceId, parsed);
    return { body: parsed, digest };
  } catch (error) {
    const refused = tooLarge(error);
    return { body: refused, digest: Buffer.from(digestOf(bodyDigestInput(refused))) };
  }
}

/** An error would bypass the limits: admission refuses it as a value. */
function tooLarge(error: unknown): ExecuteBody {
  if (error instanceof JobTooLarge) return { kind: 'too-large', message: error.message };
  throw error;
}

/** What calls are prepared with. */
export interface PreparationDeps {
  readonly compute: Compute;
  readonly template: (promptVersionId: string) => Promise<Template>;
  /** The hosts whose files may have URLs that begin with `http:`. Default: none. */
  readonly allowedHosts?: AllowedHosts;
}

export async function prepareCall(
  deps: PreparationDeps,
  call: ExecuteCall,
  { workspaceId, agent }: Target,
): Promise<ExecuteCall> {
  const known = call.preparation?.digest ?? null;
  const { body: parsed, digest } =
    call.body.kind === 'unparsed' || known === null
      ? await parseAndHash(deps.compute, workspaceId, call)
      : { body: call.body, digest: known };
  try {
    const body = agent ? await readTexts(deps, parsed, agent) : parsed;
    const compared = agent && (await compare(deps, { ...call, body }, agent));
    const examined = agent && (await examine(deps, { ...call, body }, agent, compared));
    const preparation = { digest, examined, compared };
    const measured = agent && (await measure(deps, { ...call, body, preparation }, agent));
    return { ...call, body, preparation: { ...preparation, measured } };
  } catch (error) {
    const preparation = { digest, examined: null, compared: null };
    return { ...call, body: tooLarge(error), preparation };
  }
}

/** The body with the values that the client turned into text. */
async function readTexts(
  { compute, allowedHosts: allowed }: PreparationDeps,
  body: ParsedBody,
  { workspaceId, messageLists, variableSchemas }: AgentAtAdmission,
): Promise<ParsedBody> {
  if (body.kind !== 'variables' || !body.mayHoldTexts) return body;
  // The agent may have another version by now than the one that an earlier way through admission read texts for.
  const { sent = body.variables } = body;
  const { json } = sent;
  const texts = { workspaceId, messageLists, variableSchemas, json, allowed };
  const values = await compute.run(workspaceId, readTextValuesJob, texts, json.length);
  const read = readVariables(values, body.labels);
  return read.kind === 'variables' ? { ...body, variables: read.variables, sent } : read;
}

/** Whom and what a call was for, as admission has read it. */
export interface Target {
  readonly workspaceId: string;
  /** Null if the call was not checked that far. */
  readonly agent: AgentAtAdmission | null;
}

/** Whether preparing a call in advance saves it a second way through admission. */
export function needsPreparation(
  { body, idempotencyKey, credential }: ExecuteCall,
  { agent }: Target,
): boolean {
  if (body.kind === 'unparsed') return !body.readsRecords;
  if (idempotencyKey !== null) return true;
  if (agent && (isLimitedStep(credential) || needsBound(agent, body))) return true;
  const call = agent && resolveCall(body, agent, false, null);
  if (call === null || 'code' in call) return false;
  return 'asked' in call || call.question !== null;
}

/** What an execution of the call would store, as far as that is known; null if it is not. */
export function preparedContents({ body, preparation }: ExecuteCall): StoredVariables | null {
  if (preparation?.examined) {
    const { problem, stored } = preparation.examined.answer;
    return problem ? null : stored;
  }
  return body.kind === 'variables' ? asSent(body.variables) : null;
}

/** The format of the agent may be another one by now than the one that an earlier way through admission was compared with. */
async function compare(
  { compute }: PreparationDeps,
  { body, preparation }: Pick<ExecuteCall, 'preparation'> & { readonly body: ParsedBody },
  agent: AgentAtAdmission,
): Promise<ComparedFormats | null> {
  const before = preparation?.compared ?? null;
  const formats = resolveCall(body, agent, false, before);
  if (!('asked' in formats)) return before;
  const chars = formats.own.length + formats.asked.length;
  if (chars <= inlineCharsMax) return compareFormats(formats);
  return compute.run(agent.workspaceId, compareFormatsJob, formats, chars);
}

async function examine(
  { compute, allowedHosts: allowed }: PreparationDeps,
  { body, preparation }: { readonly body: ParsedBody; readonly preparation?: Preparation },
  agent: AgentAtAdmission,
  compared: ComparedFormats | null,
): Promise<Preparation['examined']> {
  const call = resolveCall(body, agent, false, compared);
  if ('code' in call || 'asked' in call || call.question === null) return null;
  const { question } = call;
  const before = preparation?.examined ?? null;
  if (before && isSameQuestion(before.question, question)) return before;
  const { workspaceId } = agent;
  const job = { ...question, allowed };
  const answer = await compute.run(workspaceId, examineVariablesJob, job, question.json.length);
  return { question, answer };
}

/** How long the prompt is, under a limit of cost or budgets. Null without one, and for a call that will be refused. */
async function measure(
  { compute, template }: PreparationDeps,
  {
    body,
    preparation,
    credential,
  }: Pick<ExecuteCall, 'credential'> & {
    readonly body: ParsedBody;
    readonly preparation: Preparation;
  },
  agent: AgentAtAdmission,
): Promise<MeasuredCall | null> {
  if (!isLimitedStep(credential) && !needsBound(agent, body)) return null;
  const call = resolveCall(body, agent, false, preparation.compared);
  if ('code' in call || 'asked' in call) return null;
  const { question: asked, variables } = call;
  const { answer = null } = preparation.examined ?? {};
  if (asked && (!answer || answer.problem)) return null;
  const question = sizeQuestionOf(agent, call, answer?.stored ?? asSent(variables));
  const size = sizeOfTemplate(await template(agent.versionId));
  const chars = question.json.length + question.defaults.length;
  const job = { template: size, question };
  const { workspaceId } = agent;
  return {
    question,
    size:
      chars <= inlineCharsMax
        ? measureCall(job)
        : await compute.run(workspaceId, measureCallJob, job, chars),
  };
}

/** Whether its workflow run has a limit of cost. */
function isLimitedStep(credential: ExecuteCall['credential']): boolean {
  return credential.kind === 'workflow' && credential.maxCostUsd !== null;
}

async function hash(compute: Compute, workspaceId: string, body: ParsedBody): Promise<Buffer> {
  const input = digestInput(body);
  const chars = input.json.reduce((sum, { length }) => sum + length, 0);
  if (chars <= inlineCharsMax) return Buffer.from(digestOf(input));
  return Buffer.from(await compute.run(workspaceId, digestJob, input, chars));
}

function digestInput(body: ParsedBody): DigestInput {
  if (body.kind === 'invalid-parameter') return { json: [], marks: [body.kind] };
  return body.kind === 'conversation' ? conversationDigestInput(body) : bodyDigestInput(body);
}
