import { type DestinationStream, type LogFn, type Logger, pino } from 'pino';
import type { EndedExecution } from '../core/execution/ended-execution.ts';
import type { QueuedExecution } from '../core/execution/queued-execution.ts';
import { toId } from '../core/id.ts';
import type { EndedWorkflowRun } from '../engine/advance/plan-progress.ts';
import { redact } from '../models/failure/redact.ts';
import type { LogLevel } from './config/config.ts';

/**
 * Structured log: JSON lines that never contain user content or secrets. Every line passes through `clean`, so this does
 * not depend on the care of each call. Bindings of child loggers do not pass through it; Fastify binds only the request id.
 */
export function createLogger(options: {
  readonly level: LogLevel;
  /** Standard error unless given. Standard output is for the results of commands. */
  readonly destination?: DestinationStream;
}): Logger {
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      hooks: { logMethod },
      // `clean` has described the error already. The default serializer would take the description for an error.
      serializers: { err: (described: unknown) => described },
    },
    options.destination ?? standardError(),
  );
}

/** Characters that may wait for a slow reader. Lines beyond that are dropped. */
const bufferedMax = 4 * 1024 * 1024;

/**
 * A full disk or a closed pipe costs only log lines. The default destination of pino keeps a line
 * until it is written: a process that cannot write would never exit.
 */
function standardError(): DestinationStream {
  const { stderr } = process;
  stderr.on('error', () => {});
  return {
    write(line) {
      if (stderr.writableLength < bufferedMax) stderr.write(line);
    },
  };
}

const flushMsMax = 1_000;

/** Resolves once standard error is written, or after a second: the pipe may be closed. */
export async function flushStderr(): Promise<void> {
  const { stderr } = process;
  if (stderr.writableLength === 0) return;
  await new Promise<void>((resolve) => {
    stderr.write('', () => resolve());
    setTimeout(resolve, flushMsMax);
  });
}

type LoggedExecution = Pick<
  EndedExecution,
  'id' | 'status' | 'errorCode' | 'attempts' | 'latencyMs'
> &
  Pick<QueuedExecution, 'agentId'>;

/** The lines about executions and workflow runs: how they ended, never their input or output. */
export function executionLog(log: Logger) {
  const executionFields = (id: string, agentId: string) => ({
    executionId: toId('execution', id),
    agentId: toId('agent', agentId),
  });
  return {
    executionEnded(execution: LoggedExecution): void {
      const level = execution.status === 'failed' ? 'info' : 'debug';
      if (!log.isLevelEnabled(level)) return;
      const { id, agentId, status, errorCode, attempts, latencyMs } = execution;
      const outcome = { status, ...(errorCode && { errorCode }), attempts, latencyMs };
      log[level]({ ...executionFields(id, agentId), ...outcome }, 'execution ended');
    },
    workflowRunEnded({ runId, workflowId, end }: EndedWorkflowRun): void {
      const level = end.status === 'failed' ? 'info' : 'debug';
      if (!log.isLevelEnabled(level)) return;
      const fields = {
        workflowRunId: toId('workflowRun', runId),
        workflowId: toId('workflow', workflowId),
        status: end.status,
      };
      const failure =
        end.status === 'success' ? {} : { errorCode: end.errorCode, failedStep: end.failedStep };
      log[level]({ ...fields, ...failure }, 'workflow run ended');
    },
    /** The model answered, but the answer was lost: the provider writes this field in an unknown form. */
    responseUnreadable(
      field: string,
      { id, agentId }: Pick<QueuedExecution, 'id' | 'agentId'>,
    ): void {
      log.warn({ ...executionFields(id, agentId), field }, 'provider response unreadable');
    },
    /** An error that is a defect of this program, not a failure of the model. */
    executionFaulted(
      error: unknown,
      { id, agentId }: Pick<QueuedExecution, 'id' | 'agentId'>,
    ): void {
      log.error({ err: error, ...executionFields(id, agentId) }, 'execution crashed');
    },
  };
}

const repeatEveryMs = 30_000;
const remembered = 1_000;

/**
 * Warns about failures in the background. Loops that all fail every second, as while the database is unavailable, log the
 * same warning at first and then every 30 seconds, with the number of `suppressed` ones.
 * @param nowMs a monotonic clock, in milliseconds
 */
export function repeatedWarnings(
  log: Logger,
  nowMs = () => performance.now(),
): (error: unknown, message: string) => void {
  const warned = new Map<string, { readonly at: number; suppressed: number }>();
  return (error, text) => {
    const { code, message }: Partial<DatabaseFields & Error> = Object(error);
    const key = `${text} ${code ?? message}`;
    const last = warned.get(key);
    const agoMs = nowMs() - (last?.at ?? Number.NEGATIVE_INFINITY);
    if (last && agoMs < repeatEveryMs) {
      last.suppressed++;
      return;
    }
    if (warned.size === remembered) warned.clear();
    warned.set(key, { at: nowMs(), suppressed: 0 });
    // An older count belongs to an earlier outage.
    const suppressed = agoMs < 2 * repeatEveryMs ? last?.suppressed : 0;
    log.warn({ err: error, ...(suppressed && { suppressed }) }, text);
  };
}

function logMethod(this: Logger, [first, ...rest]: Parameters<LogFn>, method: LogFn): void {
  const fields: unknown = first instanceof Error ? { err: first } : first;
  method.apply(this, [fields, ...rest].map((one) => clean(one)) as Parameters<LogFn>);
}

const depthMax = 5;
const itemsMax = 50;
const secretNames =
  /(authorization|cookie|password|secret|token|key|credentials?|variables|prompts?|body|output)$/i;

/** Replaces secrets, and cuts values that are too deep or too long. */
function clean(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return redact(value, []);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === depthMax) return '[deeper]';
  if (value instanceof Error) return describeError(value, depth);
  if (Array.isArray(value)) return value.slice(0, itemsMax).map((one) => clean(one, depth + 1));
  // Requests, sockets and connections hold too much: only their type is logged.
  if (!isPlainObject(value)) return `[${value.constructor?.name}]`;
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, itemsMax)
      .map(([name, inner]) => [
        name,
        secretNames.test(name) ? '[redacted]' : clean(inner, depth + 1),
      ]),
  );
}

function isPlainObject(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/**
 * Logs only known fields of an error. PostgreSQL's `detail`, `where` and `internalQuery` quote rows and parameters;
 * libraries add fields such as the body of a request.
 */
function describeError(error: Error, depth: number): Record<string, unknown> {
  const { code, table, constraint, routine, cause } = error as Partial<DatabaseFields> & Error;
  const inner = error instanceof AggregateError ? error.errors : cause;
  return {
    type: error.name,
    ...(quotesContent(error, code) ? {} : { message: redact(String(error.message), []) }),
    ...Object.fromEntries(
      Object.entries({ code, table, constraint, routine }).filter(([, value]) => value),
    ),
    stack: stackFrames(error),
    ...(inner === undefined ? {} : { cause: clean(inner, depth + 1) }),
  };
}

interface DatabaseFields {
  readonly code: string;
  readonly table: string;
  readonly constraint: string;
  readonly routine: string;
}

/**
 * Whether the message may quote user content: a value that PostgreSQL cannot parse (class 22), invalid JSON, or a
 * provider's response, which the record contains.
 */
function quotesContent({ name }: Error, code: string | undefined): boolean {
  return name === 'ModelFailure' || name === 'SyntaxError' || /^22\w{3}$/.test(code ?? '');
}

const framesMax = 12;
const frame = /^ {4}at .+:\d+:\d+\)?$/;

/** The frames without the message, which `stack` repeats. */
function stackFrames({ stack = '', message }: Error): string[] {
  const lines = stack.replace(message, () => '').split('\n');
  return lines
    .filter((line) => frame.test(line))
    .slice(0, framesMax)
    .map((line) => line.trim());
}
