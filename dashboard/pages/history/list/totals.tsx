import { useQuery } from '@tanstack/react-query';
import type { ExecutionFilters } from '../../../../src/client/index.ts';
import { totalsQuery, type useExecutionList } from '../../../data/executions/execution-list.ts';
import { formatCost, formatDuration, formatExactCount } from '../../../data/text/format.ts';
import classes from '../history.module.css';

/** What all matches cost and took together, and how many of them the list has sorted. */
export function Totals(props: {
  readonly agentId: string | undefined;
  readonly filters: ExecutionFilters;
  readonly list: ReturnType<typeof useExecutionList>;
}) {
  const { agentId, filters, list } = props;
  const { data: totals } = useQuery(totalsQuery(agentId, filters));
  const sortedOver = list.pages.data?.pages[0]?.sortedOver;
  if (!totals || totals.executions === 0) return null;
  const { costUSD, costKnown, tokensUsed, p50Ms, p95Ms, summedOver } = totals;
  const isBound = summedOver !== undefined;
  const atLeast = (text: string, isExact: boolean) => (isExact ? text : `≥ ${text}`);
  return (
    <dl className={classes.totals} aria-label="Totals">
      <div>
        <dt>Cost</dt>
        <dd>{atLeast(formatCost(costUSD), costKnown && !isBound)}</dd>
      </div>
      <div>
        <dt>Tokens</dt>
        <dd>{atLeast(formatExactCount(tokensUsed), !isBound)}</dd>
      </div>
      {p50Ms !== null && p95Ms !== null && (
        <div>
          <dt>Latency</dt>
          <dd title="From a histogram, off by at most a tenth">
            p50 ≈ {formatDuration(p50Ms)}, p95 ≈ {formatDuration(p95Ms)}
          </dd>
        </div>
      )}
      {isBound && <Note>Summed up the newest {summedOver.toLocaleString()}</Note>}
      {sortedOver !== undefined && <Note>Sorted the newest {sortedOver.toLocaleString()}</Note>}
    </dl>
  );
}

function Note({ children }: { readonly children: React.ReactNode }) {
  return (
    <div>
      <dt className="visually-hidden">Limit</dt>
      <dd>{children}</dd>
    </div>
  );
}
