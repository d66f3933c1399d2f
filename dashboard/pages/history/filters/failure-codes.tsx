import { useQuery } from '@tanstack/react-query';
import { joinValues } from '../../../../src/client/index.ts';
import { facetQuery } from '../../../data/executions/facets.ts';
import { formatCount } from '../../../data/text/format.ts';
import classes from '../history.module.css';
import { valuesOf } from '../search.ts';
import type { FilterProps } from './filter-bar.tsx';

/** The error codes in the time range and with the statuses of the list, most frequent first. Each filters the list. */
export function FailureCodes({ search, agentId, range, onChange }: FilterProps) {
  const agentIds = agentId === undefined ? valuesOf(search.agentId) : [agentId];
  const selected = valuesOf(search.errorCode);
  const asksForFailures = /failed|rate_limited|unauthorized/.test(search.status ?? '');
  const isWanted =
    Boolean(range.startDate ?? range.endDate) || asksForFailures || selected.length > 0;
  const statuses = valuesOf(search.status);
  const codes = useQuery({
    ...facetQuery('errorCode', agentIds, range, statuses),
    enabled: isWanted,
  });
  if (!isWanted || !codes.data || codes.data.length === 0) return null;
  const toggle = (code: string) => {
    const without = selected.filter((one) => one !== code);
    const values = without.length < selected.length ? without : [...selected, code];
    onChange({ errorCode: joinValues(values) || undefined });
  };
  return (
    <fieldset className={classes.codes}>
      <legend className="visually-hidden">Error codes</legend>
      <span aria-hidden="true">Failures by code</span>
      {codes.data.map(({ value, count }) => (
        <button
          key={value}
          type="button"
          className={classes.failureCode}
          aria-pressed={selected.includes(value)}
          onClick={() => toggle(value)}
        >
          <code>{value}</code>
          <span>{formatCount(count)}</span>
        </button>
      ))}
    </fieldset>
  );
}
