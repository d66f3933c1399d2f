import { useQuery } from '@tanstack/react-query';
import { joinValues } from '../../../../src/client/index.ts';
import { codeCountsQuery, facetQuery } from '../../../data/executions/facets.ts';
import { formatCount } from '../../../data/text/format.ts';
import classes from '../history.module.css';
import { scansRecords, valuesOf } from '../search.ts';
import type { FilterProps } from './filter-bar.tsx';

/** Each is counted by a list of its own. */
const codesMax = 8;

/**
 * The most frequent error codes of the list, which each filters by. Statistics say which there may be: they also count what
 * was deleted, and whole quarters of an hour, so that the list itself counts what it would show.
 */
export function FailureCodes({ search, agentId, filters, onChange }: FilterProps) {
  const agentIds = agentId === undefined ? valuesOf(search.agentId) : [agentId];
  const selected = valuesOf(search.errorCode);
  const asksForFailures = /failed|rate_limited|unauthorized/.test(search.status ?? '');
  const isWanted =
    !scansRecords(search) &&
    (Boolean(filters.startDate ?? filters.endDate) || asksForFailures || selected.length > 0);
  const found = useQuery({
    ...facetQuery('errorCode', agentIds, filters, valuesOf(search.status)),
    enabled: isWanted,
  });
  const candidates = found.data?.slice(0, codesMax).map(({ value }) => value) ?? [];
  const codes = useQuery({
    ...codeCountsQuery(agentId, filters, candidates),
    enabled: isWanted && candidates.length > 0,
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
