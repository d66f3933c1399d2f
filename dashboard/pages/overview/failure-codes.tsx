import { Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ListFigure } from '../../components/analytics/list-figure.tsx';
import { Card } from '../../components/layout/card.tsx';
import { ErrorState } from '../../components/states/error-state.tsx';
import { totalsByGroup, totalsQuery } from '../../data/analytics/analytics.ts';
import type { Figures } from '../../data/analytics/groups.ts';
import { linkToGroup } from '../../data/analytics/links.ts';
import type { TimeRange } from '../../data/analytics/time-range.ts';
import { formatCount } from '../../data/text/format.ts';
import classes from './overview.module.css';

/** The last one may be the link to the others. */
const shownMax = 5;

/** Failures and refusals by error code. */
export function FailureCodes({ range }: { readonly range: TimeRange }) {
  const query = useQuery(totalsQuery(undefined, range, 'errorCode'));
  const codes =
    query.data &&
    [...totalsByGroup(query.data, 'errorCode').values()]
      .filter(({ group }) => group.value !== null)
      .sort((a, b) => b.figures.count - a.figures.count);
  const most = codes?.[0]?.figures.count ?? 1;
  const others = codes && codes.length > shownMax ? codes.length - shownMax + 1 : 0;
  return (
    <Card
      title="Failures by code"
      actions={
        <Link to="/analytics" search={{ metric: 'failures' }} className={classes.more}>
          Over time
        </Link>
      }
    >
      {query.isError && !query.data ? (
        <ErrorState error={query.error} onRetry={() => void query.refetch()} />
      ) : codes === undefined ? (
        <Skeleton height={120} />
      ) : codes.length === 0 ? (
        <p className="note">Nothing failed and nothing was refused in this period.</p>
      ) : (
        <ul className={classes.bars}>
          {codes.slice(0, codes.length - others).map(({ group, figures }) => (
            <li key={group.key}>
              <span className="code">{group.value}</span>
              <ListFigure
                link={linkToGroup(undefined, 'errorCode', group, range)}
                label={`List executions with ${group.value}`}
              >
                {formatCount(figures.count)}
              </ListFigure>
              <ShareBar share={figures.count / most} tone={toneOf(group.value, figures)} />
            </li>
          ))}
          {others > 0 && (
            <li>
              <Link to="/analytics" search={{ metric: 'executions', by: 'errorCode' }}>
                {others} more codes
              </Link>
            </li>
          )}
        </ul>
      )}
    </Card>
  );
}

/** As the badges of the statuses. */
function toneOf(code: string | null, { failed }: Figures) {
  if (failed > 0 || code === 'KEY_NOT_AUTHORIZED' || code === 'AGENT_NOT_ACTIVE') return 'failed';
  return code === 'CANCELED' ? 'calm' : 'limited';
}

/** How much it is of the largest. The figure beside it says the same. */
export function ShareBar(props: {
  readonly share: number;
  readonly tone: 'failed' | 'limited' | 'calm' | 'plain';
}) {
  return (
    <svg aria-hidden="true">
      <rect width="100%" height="4" rx="2" className={classes.ground} />
      <rect
        width={`${Math.max(1, props.share * 100)}%`}
        height="4"
        rx="2"
        className={classes[props.tone]}
      />
    </svg>
  );
}
