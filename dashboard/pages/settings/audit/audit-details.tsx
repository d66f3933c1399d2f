import type { AuditEntry } from '../../../data/workspace/audit.ts';
import classes from '../settings.module.css';
import { factsOf } from './audit-facts.ts';

const factsMax = 6;

/** What an entry recorded, one fact a line: `max attempts: 3 → 5`. */
export function AuditDetails({ details }: Pick<AuditEntry, 'details'>) {
  const facts = factsOf(details);
  const more = facts.length - factsMax;
  return (
    <ul className={classes.details}>
      {facts.slice(0, factsMax).map(([label, value]) => (
        <li key={label}>
          {label !== '' && <span className="note">{label}: </span>}
          <bdi>{value}</bdi>
        </li>
      ))}
      {more > 0 && <li className="note">and {more.toLocaleString()} more</li>}
    </ul>
  );
}
