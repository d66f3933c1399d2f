import type { FastifyInstance, FastifyRequest } from 'fastify';
import { streamWorkflowRun } from '../../../contract/workflows/workflow-runs.ts';
import { CallFailure, notFound } from '../../../core/failure.ts';
import { fromId } from '../../../core/id.ts';
import type { Caller } from '../../../core/people/caller.ts';
import { readExecutionStream, type StreamStart } from '../../../flow/execution/read-stream.ts';
import { waitForDatabase } from '../../../flow/wait-for-database.ts';
import type { WorkflowRunDetailRow } from '../../../store/workflow/workflow-history.ts';
import type { ApiDeps } from '../../api-deps.ts';
import {
  EventStream,
  eventStreamHeaders,
  type SentEvent,
} from '../../http/response/event-stream.ts';
import { emptyStream } from '../../http/response/stream.ts';
import { route } from '../../http/route.ts';
import { readStart, SentEvents, tooManyReaders } from '../executions/stream.ts';
import { visibleRunWire } from './workflow-run-wire.ts';
import { type RunPath, readRun } from './workflow-runs.ts';

/** Streams the states of a workflow run's steps, and the text of one of them. */
export function workflowRunStreamRoutes(app: FastifyInstance, deps: ApiDeps): void {
  route(app, deps, streamWorkflowRun, async ({ params, query, caller, request }) => {
    const row = await readRun(deps, caller, params, true);
    const step = query.step === undefined ? null : requireStep(row, query.step);
    const after = readStart(request.headers['last-event-id'] ?? query.after);
    if (request.method === 'HEAD') {
      return { status: 200, body: emptyStream(), headers: eventStreamHeaders };
    }
    const release = deps.streamSlots.acquire(caller.id);
    if (!release) throw tooManyReaders();
    const stopping = new AbortController();
    stopping.signal.addEventListener('abort', release, { once: true });
    const check = () => authorized(deps, request, params);
    const reader = new RunReader(deps, { params, step, after, caller, check, stopping });
    const body = new EventStream(reader.events(row.id), request, { stopping, check });
    return { status: 200, body, headers: eventStreamHeaders };
  });
}

function requireStep({ definition }: WorkflowRunDetailRow, name: string): string {
  const step = definition.steps.find((one) => one.name === name);
  if (!step) throw notFound('step', 'workflow run');
  if (!step.forEach) return name;
  const message = `Step "${name}" has items, each with an execution of its own: stream one of those.`;
  throw new CallFailure('INVALID_REQUEST', message);
}

async function authorized(
  deps: ApiDeps,
  request: FastifyRequest,
  params: RunPath,
): Promise<Caller> {
  const caller = await deps.authenticator.authenticate(request, streamWorkflowRun);
  await readRun(deps, caller, params, true);
  return caller;
}

interface RunReading {
  readonly params: RunPath;
  /** Whose text is streamed; null for none. */
  readonly step: string | null;
  readonly after: StreamStart | null;
  readonly caller: Caller;
  readonly check: () => Promise<Caller>;
  readonly stopping: AbortController;
}

type Step = ReturnType<typeof visibleRunWire>['steps'][number];

class RunReader {
  readonly #deps: ApiDeps;
  readonly #reading: RunReading;
  readonly #states = new Map<string, string>();
  /** Events of the step's execution that have not been sent. */
  readonly #texts: SentEvent[] = [];
  #executionId: string | null = null;
  #textsEnd: Promise<void> = Promise.resolve();
  #textFailure: unknown = null;

  constructor(deps: ApiDeps, reading: RunReading) {
    this.#deps = deps;
    this.#reading = reading;
  }

  async *events(runId: string): AsyncGenerator<SentEvent, void, undefined> {
    const { streams } = this.#deps;
    const { params, caller, stopping } = this.#reading;
    const read = <T>(work: () => Promise<T>) => waitForDatabase(work, () => this.#isOver());
    const watch = streams.watch(runId);
    const stop = () => watch.stop();
    stopping.signal.addEventListener('abort', stop, { once: true });
    try {
      while (!this.#isOver()) {
        const row = await read(() => readRun(this.#deps, caller, params, true));
        const steps = visibleRunWire(caller, row).steps;
        yield* this.#changedSteps(steps);
        this.#followText(steps, runId);
        if (row.status !== 'processing') {
          await this.#textsEnd;
          yield* this.#takeTexts();
          const viewer = await this.#viewer();
          const run = await read(() => readRun(this.#deps, viewer, params));
          yield { event: 'end', data: visibleRunWire(viewer, run) };
          return;
        }
        yield* this.#takeTexts();
        // Something else may have arrived while the events were sent.
        if (this.#texts.length === 0) await watch.changed();
      }
    } finally {
      stop();
    }
  }

  /** The caller as authorized now. */
  #viewer(): Promise<Caller> {
    return waitForDatabase(this.#reading.check, () => this.#isOver());
  }

  #isOver(): boolean {
    return this.#reading.stopping.signal.aborted || this.#deps.streams.closed;
  }

  *#changedSteps(steps: readonly Step[]): Generator<SentEvent, void, undefined> {
    for (const { name, status, executionId } of steps) {
      const state = `${status} ${executionId}`;
      if (this.#states.get(name) === state) continue;
      this.#states.set(name, state);
      yield { event: 'step', data: { name, status, ...(executionId && { executionId }) } };
    }
  }

  *#takeTexts(): Generator<SentEvent, void, undefined> {
    if (this.#textFailure) throw this.#textFailure;
    while (this.#texts.length > 0) yield* this.#texts.splice(0);
  }

  /** Follows the execution of the step, which is another one after a fallback. */
  #followText(steps: readonly Step[], runId: string): void {
    const { step, after, caller, stopping } = this.#reading;
    const { executionId = null, agentId = null } = steps.find(({ name }) => name === step) ?? {};
    if (executionId === null || agentId === null || executionId === this.#executionId) return;
    const isFirst = this.#executionId === null;
    this.#executionId = executionId;
    const key = {
      agentId: fromId('agent', agentId) ?? '',
      executionId: fromId('execution', executionId) ?? '',
    };
    const before = this.#textsEnd;
    const follow = async () => {
      await before;
      if (!isFirst) this.#texts.push({ event: 'restart', id: '1.0', data: { attempt: 1 } });
      const start = isFirst ? after : null;
      const source = readExecutionStream(this.#deps, key, start, stopping.signal);
      for await (const event of new SentEvents(source, caller, () => this.#viewer())) {
        if (event.event === 'status' || event.event === 'end') continue;
        this.#texts.push(event);
        this.#deps.streams.wake([runId]);
      }
    };
    this.#textsEnd = follow().catch((error: unknown) => {
      this.#textFailure = error;
    });
  }
}
