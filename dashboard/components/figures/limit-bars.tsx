import type { AgentLimits } from '../../../src/client/index.ts';
import { formatCount, formatRelativeTime } from '../../data/text/format.ts';
import classes from './limit-bars.module.css';
import { Meter } from './meter.tsx';

type Window = AgentLimits['rateLimitUsage'][number];

/** Usage of each rate limit window and the time of its reset. `brief` is for table cells. */
export function LimitBars(props: { readonly usage: readonly Window[]; readonly brief?: boolean }) {
  return (
    <ul className={props.brief ? classes.brief : classes.bars}>
      {props.usage.map((state) => (
        <li key={state.window}>
          <div className={classes.text}>
            <span>{props.brief ? short[state.window] : long[state.window]}</span>
            <span className={classes.count} data-full={state.remaining === 0 || undefined}>
              {formatCount(state.used)} / {formatCount(state.limit)}
            </span>
          </div>
          <Meter used={state.used} max={state.limit} label={usageText(state)} />
          {!props.brief && (
            <p className={classes.reset}>
              {state.scope === 'stage' && 'Capped by the Testing stage. '}
              Resets {formatRelativeTime(state.resetAt)}
            </p>
          )}
        </li>
      ))}
    </ul>
  );
}

const long = { minute: 'This minute', hour: 'This hour', day: 'Today (UTC)' } as const;
const short = { minute: 'min', hour: 'h', day: 'day' } as const;

function usageText({ window, used, limit }: Window): string {
  return `${used.toLocaleString()} of ${limit.toLocaleString()} calls used this ${window}`;
}
