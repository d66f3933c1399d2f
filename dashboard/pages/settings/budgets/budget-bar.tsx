import type { Budget, BudgetWindow } from '../../../../src/client/index.ts';
import { Time } from '../../../components/figures/time.tsx';
import { useLoadedAgentNames } from '../../../data/agents/agent-names.ts';
import { formatCost } from '../../../data/text/format.ts';
import { isCurrent } from '../../../data/workspace/budgets.ts';
import { useKeyNames } from '../../../data/workspace/key-names.ts';
import classes from './budget-bar.module.css';

/** What windows have settled and reserved, and what is left, each as one bar. */
export function BudgetBars(props: {
  readonly budget: Budget;
  readonly windows: readonly BudgetWindow[];
}) {
  const { budget, windows } = props;
  const nameOf = useBucketNames(budget, windows);
  return (
    <ul className={classes.windows}>
      {windows.map((window) => (
        <li key={`${window.bucket} ${window.windowStart}`}>
          <div className={classes.text}>
            <bdi className="wrap">{nameOf(window.bucket)}</bdi>
            <span className={classes.used} data-full={isFull(window) || undefined}>
              {formatCost(window.settledUSD + window.reservedUSD)} of {formatCost(window.limitUSD)}
            </span>
          </div>
          <BudgetBar window={window} />
          <p className="small-note">
            {amountsOf(window)}
            {!isCurrent(window) && (
              <>
                {' · since '}
                <Time at={window.windowStart} />
              </>
            )}
          </p>
        </li>
      ))}
    </ul>
  );
}

const isFull = ({ leftUSD }: BudgetWindow) => leftUSD <= 0;

function amountsOf({ settledUSD, reservedUSD, leftUSD }: BudgetWindow): string {
  const reserved = reservedUSD > 0 ? `${formatCost(reservedUSD)} reserved · ` : '';
  return `${formatCost(settledUSD)} settled · ${reserved}${formatCost(leftUSD)} left`;
}

function BudgetBar({ window }: { readonly window: BudgetWindow }) {
  const { limitUSD, settledUSD, reservedUSD } = window;
  const share = (usd: number) => Math.min(1, usd / limitUSD) * 100;
  const used = share(settledUSD + reservedUSD);
  return (
    <svg className={classes.bar} role="img" aria-label={amountsOf(window)}>
      <rect data-part="left" width="100%" height="100%" rx="3" />
      {used > 0 && (
        <rect data-part="reserved" width={`${Math.max(2, used)}%`} height="100%" rx="3" />
      )}
      {settledUSD > 0 && (
        <rect
          data-part="settled"
          data-full={isFull(window) || undefined}
          width={`${Math.max(2, share(settledUSD))}%`}
          height="100%"
          rx="3"
        />
      )}
    </svg>
  );
}

/** The names of agents and keys; users have their own. */
function useBucketNames({ per }: Budget, windows: readonly BudgetWindow[]) {
  const isShared = (bucket: string) => bucket === '' || bucket === 'other';
  const agentIds = windows.map(({ bucket }) => bucket).filter((bucket) => !isShared(bucket));
  const agents = useLoadedAgentNames(per === 'agent' ? agentIds : []);
  const keys = useKeyNames();
  return (bucket: string): string => {
    if (bucket === '') return per === 'none' ? 'All calls' : `Without ${nouns[per]}`;
    if (per === 'agent') return agents.nameOf(bucket) ?? bucket;
    return (per === 'key' && keys?.get(bucket)) || bucket;
  };
}

const nouns = { none: '', agent: 'an agent', key: 'an API key', user: 'a user' };
