import type { Schedule } from '../../../../src/client/index.ts';
import { formatRelativeTime, formatTimeIn, viewerZone } from '../../../data/text/format.ts';
import classes from './triggers.module.css';

/** The next times of a schedule, in its own and in the viewer's time zone. */
export function NextTimes({ nextTimes, timeZone }: Pick<Schedule, 'nextTimes' | 'timeZone'>) {
  const isViewerZone = timeZone === viewerZone;
  return (
    <table className={classes.times}>
      <caption>Next times</caption>
      <thead>
        <tr>
          <th scope="col">{timeZone}</th>
          {!isViewerZone && <th scope="col">Your time, {viewerZone}</th>}
          <th scope="col">Due</th>
        </tr>
      </thead>
      <tbody>
        {nextTimes.map((at) => (
          <tr key={at}>
            <td>{formatTimeIn(at, timeZone)}</td>
            {!isViewerZone && <td>{formatTimeIn(at, viewerZone)}</td>}
            <td>{formatRelativeTime(at)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
