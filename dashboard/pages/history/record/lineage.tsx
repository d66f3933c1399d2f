import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Time } from '../../../components/figures/time.tsx';
import { ExecutionBadge } from '../../../components/states/status-badge.tsx';
import {
  type ExecutionDetail,
  executionQuery,
  rerunsQuery,
} from '../../../data/executions/executions.ts';
import classes from './record.module.css';

/** The execution that this one runs again, and those that run this one again. */
export function Lineage({ execution }: { readonly execution: ExecutionDetail }) {
  const { agentId, executionId, rerunOf } = execution;
  const reruns = useQuery(rerunsQuery(agentId, executionId));
  const { executions = [], pagination } = reruns.data ?? {};
  if (rerunOf === undefined && executions.length === 0) return null;
  const more = (pagination?.total ?? 0) - executions.length;
  return (
    <section className={classes.part} aria-label="Run again">
      {rerunOf !== undefined && <Original agentId={agentId} executionId={rerunOf} />}
      {executions.length > 0 && (
        <>
          <h2 className={classes.subhead}>Run again as</h2>
          <ul className={classes.lineage}>
            {executions.map((again) => (
              <li key={again.executionId}>
                <ExecutionBadge execution={again} />
                <Link
                  to="/history/$agentId/$executionId"
                  params={{ agentId, executionId: again.executionId }}
                >
                  <Time at={again.executedAt} />
                </Link>
              </li>
            ))}
          </ul>
          {more > 0 && (
            <Link to="/history" search={{ rerunOf: executionId }}>
              {more.toLocaleString()} more
            </Link>
          )}
        </>
      )}
    </section>
  );
}

function Original({
  agentId,
  executionId,
}: {
  readonly agentId: string;
  readonly executionId: string;
}) {
  const original = useQuery(executionQuery(agentId, executionId));
  return (
    <>
      <h2 className={classes.subhead}>Runs again</h2>
      <ul className={classes.lineage}>
        <li>
          {original.data && <ExecutionBadge execution={original.data} />}
          {original.isError ? (
            <span className="note">
              A deleted execution, <code>{executionId}</code>
            </span>
          ) : (
            <Link to="/history/$agentId/$executionId" params={{ agentId, executionId }}>
              {original.data ? <Time at={original.data.executedAt} /> : <code>{executionId}</code>}
            </Link>
          )}
        </li>
      </ul>
    </>
  );
}
