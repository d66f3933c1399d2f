import type { ExecutionDetail } from '../../data/executions/executions.ts';
import { formatDuration } from '../../data/text/format.ts';
import classes from './record.module.css';

/** Queue time and run time as a proportional bar. */
export function Timings({ execution }: { readonly execution: ExecutionDetail }) {
  const spans = spansOf(execution);
  if (!spans) return null;
  const { queuedMs, runningMs } = spans;
  const label = `Queued ${formatDuration(queuedMs)}, running ${formatDuration(runningMs)}`;
  const total = Math.max(1, queuedMs + runningMs);
  return (
    <figure className={classes.timings}>
      <svg width="100%" height="10" role="img" aria-label={label}>
        <rect width="100%" height="10" rx="3" className={classes.running} />
        <rect
          width={`${(queuedMs / total) * 100}%`}
          height="10"
          rx="3"
          className={classes.queued}
        />
      </svg>
      <figcaption>
        <span data-part="queued">Queued {formatDuration(queuedMs)}</span>
        <span data-part="running">
          {execution.status === 'processing' ? 'Running for' : 'Running'}{' '}
          {formatDuration(runningMs)}
        </span>
      </figcaption>
    </figure>
  );
}

/** Null for a refused call, which was never queued. */
function spansOf(execution: ExecutionDetail): { queuedMs: number; runningMs: number } | null {
  if (execution.queuedAt === undefined) return null;
  const queued = Date.parse(execution.queuedAt);
  // Uses the viewer's clock, which may be wrong, only while the execution is in progress.
  const end = execution.completedAt === undefined ? Date.now() : Date.parse(execution.completedAt);
  const started = execution.startedAt === undefined ? end : Date.parse(execution.startedAt);
  return {
    queuedMs: Math.max(0, started - queued),
    runningMs:
      execution.startedAt === undefined ? 0 : (execution.latencyMs ?? Math.max(0, end - started)),
  };
}
