import type { Notifications } from '../db/notifications.ts';
import type { EndedExecution } from '../store/execution/completion.ts';
import type { CompletionEvent } from './completions.ts';
import type { LiveStreams } from './execution/live-streams.ts';
import type { Waiters } from './execution/wait.ts';
import type { EndedWorkflowRun, Progress } from './workflow/progress.ts';
import type { ValueCache } from './workflow/value-cache.ts';

/** The worker of this process (`worker/worker.ts`), as far as a commit concerns it. */
export interface LocalWorker {
  wake(): void;
  cancel(executionIds: readonly string[]): void;
}

/** The event sender of this process. */
export interface LocalSender {
  wake(): void;
}

export interface AnnouncementsDeps {
  readonly notifications: Pick<Notifications, 'publish' | 'subscribe'>;
  readonly waiters: Waiters;
  /** Readers of streams: of executions, and of workflow runs by their id. */
  readonly streams: Pick<LiveStreams, 'wake'>;
  readonly values: ValueCache;
  readonly metrics: {
    executionEnded(execution: EndedExecution): void;
    workflowRunEnded(status: EndedWorkflowRun['end']['status']): void;
  };
  readonly log: {
    executionEnded(execution: EndedExecution): void;
    workflowRunEnded(run: EndedWorkflowRun): void;
  };
}

/**
 * Announces what a transaction changed, after its commit: to waiting callers and the worker of this process, to other
 * processes, to metrics and to the log. Announcements to other processes can be lost; polls find what was missed.
 */
export class Announcements {
  readonly #deps: AnnouncementsDeps;
  #worker: LocalWorker | null = null;
  #sender: LocalSender | null = null;

  constructor(deps: AnnouncementsDeps) {
    this.#deps = deps;
  }

  /** Subscribes to what other processes announce. */
  listen(worker: LocalWorker | null, sender: LocalSender | null): void {
    const { notifications, waiters, streams, values } = this.#deps;
    this.#worker = worker;
    this.#sender = sender;
    if (sender) notifications.subscribe('cueline_event_queued', () => sender.wake());
    notifications.subscribe('cueline_execution_ended', waiters.wake);
    notifications.subscribe('cueline_execution_ended', streams.wake);
    notifications.subscribe('cueline_execution_streamed', streams.wake);
    notifications.subscribe('cueline_workflow_run_advanced', streams.wake);
    notifications.subscribe('cueline_workflow_run_ended', (runIds) => {
      waiters.wake(runIds);
      streams.wake(runIds);
      runIds.forEach(values.forget);
    });
    if (!worker) return;
    notifications.subscribe('cueline_execution_queued', () => worker.wake());
    notifications.subscribe('cueline_execution_canceled', (executionIds) =>
      worker.cancel(executionIds),
    );
  }

  /** Executions wait in the queue for a worker. */
  announceQueuedExecutions(): void {
    this.#worker?.wake();
    this.#deps.notifications.publish('cueline_execution_queued');
  }

  /** Events must be sent to endpoints. */
  announceQueuedEvents(): void {
    this.#sender?.wake();
    this.#deps.notifications.publish('cueline_event_queued');
  }

  /** The states of steps changed. Readers of their workflow runs wait for it. */
  announceAdvancedWorkflowRuns(runIds: readonly string[]): void {
    this.#deps.streams.wake(runIds);
    this.#deps.notifications.publish('cueline_workflow_run_advanced', runIds);
  }

  /** Announces what became final. */
  announceCompletion({
    executions,
    interrupted,
    slotsFreed,
    progress,
    eventsQueued,
  }: CompletionEvent): void {
    for (const execution of executions) this.#announceEndedExecution(execution);
    for (const id of interrupted) this.#announceInterruption(id);
    for (const run of progress?.ended ?? []) this.#announceEndedWorkflowRun(run);
    const advanced = progress ? advancedRuns(progress) : [];
    if (advanced.length > 0) this.announceAdvancedWorkflowRuns(advanced);
    if (slotsFreed) this.announceQueuedExecutions();
    if (eventsQueued) this.announceQueuedEvents();
  }

  #announceEndedExecution(execution: EndedExecution): void {
    const { notifications, waiters, streams, metrics, log } = this.#deps;
    waiters.wake([execution.id]);
    streams.wake([execution.id]);
    notifications.publish('cueline_execution_ended', [execution.id]);
    metrics.executionEnded(execution);
    log.executionEnded(execution);
  }

  /** A canceled execution was claimed: its worker must abort the call. */
  #announceInterruption(executionId: string): void {
    this.#worker?.cancel([executionId]);
    this.#deps.notifications.publish('cueline_execution_canceled', [executionId]);
  }

  #announceEndedWorkflowRun(run: EndedWorkflowRun): void {
    const { notifications, waiters, streams, metrics, log } = this.#deps;
    waiters.wake([run.runId]);
    streams.wake([run.runId]);
    notifications.publish('cueline_workflow_run_ended', [run.runId]);
    metrics.workflowRunEnded(run.end.status);
    log.workflowRunEnded(run);
  }
}

/** Those that have not ended. */
function advancedRuns({ learned, ended }: Progress): string[] {
  const over = new Set(ended.map(({ runId }) => runId));
  return [...learned.keys()].filter((runId) => !over.has(runId));
}
