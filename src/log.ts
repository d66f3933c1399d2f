import { type DestinationStream, type LogFn, type Logger, pino } from 'pino';
import type { LogLevel } from './config.ts';
import type { QueuedExecution } from './core/execution/queued-execution.ts';
import { toId } from './core/id.ts';
import type { EndedWorkflowRun } from './flow/workflow/progress.ts';
import { redact } from './provider/redact.ts';
import type { EndedExecution } from './store/execution/finish.ts';

/**
 * The log: JSON lines, in which nothing stands that a user wrote and nothing that opens a door. Whatever is logged goes
 * through `clean`, so that this does not hang on the care of each line. (Bindings of child loggers do not; Fastify
 * binds a request's id.)
 */
export function createLogger(options: {
  readonly level: LogLevel;
  /** Standard error unless given: standard output is for what a command answers. */
  readonly destination?: DestinationStream;
}): Logger {
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      hooks: { logMethod },
      // What is logged of an error is described by then; pino's own would take the description for an error.
      serializers: { err: (described: unknown) => described },
    },
    options.destination ?? standardError(),
  );
}

/** What nobody has read so far of a pipe; what comes on top of it is lost. */
const unreadMax = 4 * 1024 * 1024;

/**
 * Whatever is wrong with it, such as a full disk, a reader who is gone or does not read, costs lines and nothing else. pino's
 * own destination keeps a line until it is written: where it cannot be, a process that ends would wait for ever.
 */
function standardError(): DestinationStream {
  const { stderr } = process;
  stderr.on('error', () => {});
  return {
    write(line) {
      if (stderr.writableLength < unreadMax) stderr.write(line);
    },
  };
}

const flushMsMax = 1_000;

/** Resolves once all that was written to standard error has left, or a second later: its reader may never come. */
export async function flushOutput(): Promise<void> {
  const { stderr } = process;
  if (stderr.writableLength === 0) return;
  await new Promise<void>((resolve) => {
    stderr.write('', () => resolve());
    setTimeout(resolve, flushMsMax);
  });
}

type Ended = Pick<EndedExecution, 'id' | 'status' | 'errorCode' | 'attempts' | 'latencyMs'> &
  Pick<QueuedExecution, 'agentId'>;

/** The lines about runs: how one ended, never what was asked or answered. */
export function executionLog(log: Logger) {
  const named = (id: string, agentId: string) => ({
    executionId: toId('execution', id),
    agentId: toId('agent', agentId),
  });
  return {
    ended(run: Ended): void {
      const level = run.status === 'failed' ? 'info' : 'debug';
      if (!log.isLevelEnabled(level)) return;
      const { id, agentId, status, errorCode, attempts, latencyMs } = run;
      const how = { status, ...(errorCode && { errorCode }), attempts, latencyMs };
      log[level]({ ...named(id, agentId), ...how }, 'ended');
    },
    workflowRunEnded({ runId, workflowId, end }: EndedWorkflowRun): void {
      const level = end.status === 'failed' ? 'info' : 'debug';
      if (!log.isLevelEnabled(level)) return;
      const named = {
        workflowRunId: toId('workflowRun', runId),
        workflowId: toId('workflow', workflowId),
      };
      const how =
        end.status === 'success' ? {} : { errorCode: end.errorCode, failedStep: end.failedStep };
      log[level]({ ...named, status: end.status, ...how }, 'run ended');
    },
    fault(error: unknown, { id, agentId }: Pick<QueuedExecution, 'id' | 'agentId'>): void {
      log.error({ err: error, ...named(id, agentId) }, 'fault');
    },
  };
}

const everyWordMs = 30_000;
const complaintsMax = 1_000;

/**
 * Warns of what goes wrong in the background. Loops that all fail each second, as while the database is away, say the same
 * at first and then every half minute, with how often it was left unsaid.
 * @param nowMs on a clock of its own, in milliseconds
 */
export function complaints(
  log: Logger,
  nowMs = () => performance.now(),
): (error: unknown, what: string) => void {
  const said = new Map<string, { readonly at: number; unsaid: number }>();
  return (error, what) => {
    const { code, message }: Partial<DatabaseFields & Error> = Object(error);
    const key = `${what} ${code ?? message}`;
    const before = said.get(key);
    const agoMs = nowMs() - (before?.at ?? Number.NEGATIVE_INFINITY);
    if (before && agoMs < everyWordMs) {
      before.unsaid++;
      return;
    }
    if (said.size === complaintsMax) said.clear();
    said.set(key, { at: nowMs(), unsaid: 0 });
    // What was left unsaid long ago belongs to a failure that is over.
    const unsaid = agoMs < 2 * everyWordMs ? before?.unsaid : 0;
    log.warn({ err: error, ...(unsaid && { unsaid }) }, what);
  };
}

function logMethod(this: Logger, [first, ...rest]: Parameters<LogFn>, method: LogFn): void {
  const fields: unknown = first instanceof Error ? { err: first } : first;
  method.apply(this, [fields, ...rest].map((one) => clean(one)) as Parameters<LogFn>);
}

const depthMax = 5;
const itemsMax = 50;
const gone = '[redacted]';
const secretName =
  /(authorization|cookie|password|secret|token|key|credentials?|variables|prompts?|body|output)$/i;

function clean(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return redact(value, []);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === depthMax) return '[deeper]';
  if (value instanceof Error) return describe(value, depth);
  if (Array.isArray(value)) return value.slice(0, itemsMax).map((one) => clean(one, depth + 1));
  // A request, a socket, a connection: no line is about all that such a thing holds.
  if (!isPlain(value)) return `[${value.constructor?.name}]`;
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, itemsMax)
      .map(([name, inner]) => [name, secretName.test(name) ? gone : clean(inner, depth + 1)]),
  );
}

function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/**
 * An error by the fields that are known to be ours or the database's: not PostgreSQL's `detail`, `where` and
 * `internalQuery`, which quote rows and parameters, and not what else a library hangs on, such as a request's body.
 */
function describe(error: Error, depth: number): Record<string, unknown> {
  const { code, table, constraint, routine, cause } = error as Partial<DatabaseFields> & Error;
  const inner = error instanceof AggregateError ? error.errors : cause;
  return {
    type: error.name,
    ...(quotes(error, code) ? {} : { message: redact(String(error.message), []) }),
    ...Object.fromEntries(
      Object.entries({ code, table, constraint, routine }).filter(([, value]) => value),
    ),
    stack: framesOf(error),
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
 * Whose message repeats what somebody sent: a value that PostgreSQL cannot read (class 22), a text that is no JSON, what
 * a model's provider said (that stands in the record).
 */
function quotes({ name }: Error, code: string | undefined): boolean {
  return name === 'ModelFailure' || name === 'SyntaxError' || /^22\w{3}$/.test(code ?? '');
}

const framesMax = 12;
const frame = /^ {4}at .+:\d+:\d+\)?$/;

/** Where it happened, without the message that stands before it. */
function framesOf({ stack = '', message }: Error): string[] {
  const lines = stack.replace(message, () => '').split('\n');
  return lines
    .filter((line) => frame.test(line))
    .slice(0, framesMax)
    .map((line) => line.trim());
}
