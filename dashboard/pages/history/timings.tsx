import type { ExecutionDetail } from '../../data/executions/executions.ts';
import { formatDuration } from '../../data/text/format.ts';
import classes from './record.module.css';

/** Queue time and run time as a proportional bar. */
export function Timings({ run }: { readonly run: ExecutionDetail }) {
  const spans = spansOf(run);
  if (!spans) return null;
  const { queuedMs, runningMs } = spans;
  const words = `Queued ${formatDuration(queuedMs)}, running ${formatDuration(runningMs)}`;
  const total = Math.max(1, queuedMs + runningMs);
  return (
    <figure className={classes.timings}>
      <svg width="100%" height="10" role="img" aria-label={words}>
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
          {run.status === 'processing' ? 'Running for' : 'Running'} {formatDuration(runningMs)}
        </span>
      </figcaption>
    </figure>
  );
}

/** Null for a refused call, which was never queued. */
function spansOf(run: ExecutionDetail): { queuedMs: number; runningMs: number } | null {
  if (run.queuedAt === undefined) return null;
  const queued = Date.parse(run.queuedAt);
  // Uses the viewer's clock, which may be wrong, only while the execution is in progress.
  const end = run.completedAt === undefined ? Date.now() : Date.parse(run.completedAt);
  const started = run.startedAt === undefined ? end : Date.parse(run.startedAt);
  return {
    queuedMs: Math.max(0, started - queued),
    runningMs: run.startedAt === undefined ? 0 : (run.latencyMs ?? Math.max(0, end - started)),
  };
}
