import type { EndedExecution, Labels, StreamEvent } from '../../client/index.ts';
import { CommandFailure } from './command-failure.ts';
import { print, printDone, printNotice, printText } from './print.ts';
import { withProgress } from './progress.ts';
import type { Call } from './run-call.ts';
import { readVariables, type VariableOptions } from './variable-options.ts';

/** `cueline exec` and `wait`: execute an agent and follow the execution. */

export interface WaitOptions {
  /** In seconds. */
  readonly timeout?: number;
  readonly cancelOnInterrupt?: true;
}

export interface ExecOptions extends VariableOptions, LabelOptions, WaitOptions {
  readonly wait?: true;
  readonly stream?: true;
  readonly playground?: true;
  readonly maxCost?: number;
  readonly idempotencyKey?: string;
}

/** Prints the id of the execution, or with `wait` its output, or with `stream` its text as it arrives. */
export async function exec(call: Call, agentId: string, options: ExecOptions): Promise<void> {
  const variables = await readVariables(options, call.signal);
  // An idempotency key makes every retry of the call safe.
  const { idempotencyKey = crypto.randomUUID(), cancelOnInterrupt } = options;
  const accepted = await call.cueline.execute(agentId, variables, {
    idempotencyKey,
    ...labelsOf(options),
    stream: options.stream,
    playground: options.playground,
    maxCostUSD: options.maxCost,
    // Cancellation needs the id, so Ctrl-C does not abort the call itself.
    signal: cancelOnInterrupt ? undefined : call.signal,
  });
  const { executionId, currentStatus, ignoredVariables = [] } = accepted;
  if (currentStatus !== undefined) {
    printNotice(`Repeated call of ${executionId}, now ${currentStatus ?? 'deleted'}.`);
  }
  if (ignoredVariables.length > 0)
    printNotice(
      `Ignored variables that the agent does not declare: ${ignoredVariables.join(', ')}.`,
    );
  if (options.stream) return follow(call, agentId, executionId, options);
  if (options.wait) return wait(call, agentId, executionId, options);
  await printDone(accepted, executionId, call.json);
}

/** Prints the output or, with `json`, the record. Throws if the execution did not succeed. */
export async function wait(
  call: Call,
  agentId: string,
  executionId: string,
  options: WaitOptions,
): Promise<void> {
  const { timeout } = options;
  const waiting = call.cueline.wait(agentId, executionId, {
    signal: call.signal,
    ...(timeout !== undefined && { timeoutMs: timeout * 1000 }),
  });
  const record = await withProgress(`Waiting for ${executionId}`, waiting).catch(async (error) => {
    await reportInterrupt(call, { agentId, executionId }, options);
    throw error;
  });
  await printOutcome(record, call.json);
}

type ExecutionDetail = Extract<StreamEvent, { type: 'end' }>['data'];

/** Prints the text as it arrives or, with `json`, the record in the end. Throws if the execution did not succeed. */
async function follow(
  call: Call,
  agentId: string,
  executionId: string,
  options: WaitOptions,
): Promise<void> {
  const { timeout = timeoutSeconds } = options;
  const late = AbortSignal.timeout(timeout * 1000);
  const signal = AbortSignal.any([call.signal, late]);
  const events = call.cueline.stream(agentId, executionId, { signal });
  const record = await printEvents(events, call.json).catch(async (error) => {
    await reportInterrupt(call, { agentId, executionId }, options);
    if (call.signal.aborted || !late.aborted) throw error;
    throw new CommandFailure(`${executionId} has not ended within ${timeout} seconds.`);
  });
  if (call.json) await print(JSON.stringify(record));
  throwUnlessSuccess(record);
}

const timeoutSeconds = 600;

/** What was printed of an earlier attempt cannot be taken back; a notice tells that it is void. */
async function printEvents(
  events: AsyncIterable<StreamEvent>,
  json: boolean,
): Promise<ExecutionDetail> {
  let hasText = false;
  const endLine = async () => {
    if (hasText) await print('');
    hasText = false;
  };
  for await (const { type, data } of events) {
    if (type === 'end') {
      await endLine();
      return data;
    }
    if (json) continue;
    if (type === 'text') {
      await printText(data.text);
      hasText = true;
    }
    if (type === 'restart') {
      await endLine();
      printNotice('The attempt failed. Discard the text so far.');
    }
  }
  throw new CommandFailure('The stream ended before the execution.');
}

async function printOutcome(record: EndedExecution, json: boolean): Promise<void> {
  const { status, outputText = '' } = record;
  if (json) await print(JSON.stringify(record));
  else if (status === 'success') await print(outputText);
  throwUnlessSuccess(record);
}

function throwUnlessSuccess({ status, error, errorCode, executionId }: ExecutionDetail): void {
  if (status === 'success') return;
  throw new CommandFailure(`${error} (${errorCode}, ${executionId})`);
}

/** After Ctrl-C, cancels the execution or says that it continues. */
async function reportInterrupt(
  call: Call,
  { agentId, executionId }: { readonly agentId: string; readonly executionId: string },
  { cancelOnInterrupt }: WaitOptions,
): Promise<void> {
  if (!call.signal.aborted) return;
  if (cancelOnInterrupt) return cancelAfterInterrupt(call, agentId, executionId);
  printNotice(`The execution continues. To wait again: cueline wait ${agentId} ${executionId}`);
}

/** Does not pass the signal, which is already aborted. */
async function cancelAfterInterrupt(
  { cueline }: Call,
  agentId: string,
  executionId: string,
): Promise<void> {
  const outcome = await cueline.cancel(agentId, executionId).then(
    () => 'canceled.',
    (error: Error) => `not canceled: ${error.message}`,
  );
  printNotice(`${executionId}: ${outcome}`);
}

/** Who a call is for, as command line options. */
interface LabelOptions {
  readonly user?: string;
  readonly session?: string;
  readonly tag?: readonly string[];
  readonly metadata?: readonly (readonly [string, string])[];
}

function labelsOf({ user, session, tag, metadata }: LabelOptions): Labels {
  return { user, session, tags: tag, metadata: metadata && Object.fromEntries(metadata) };
}
