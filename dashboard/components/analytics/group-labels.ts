import type { Grouping } from '../../data/analytics/analytics-search.ts';
import type { Group } from '../../data/analytics/groups.ts';
import { useKeyNames } from '../../data/workspace/key-names.ts';

/** How a group is called on the page. */
export function useGroupLabel(
  grouping: Grouping,
  agentId: string | undefined,
): (group: Group) => string {
  const keyNames = useKeyNames();
  return (group) => {
    if (group.other) return `All other ${grouping === 'tag' ? 'tags' : 'users'}`;
    const { value } = group;
    if (value === null) return withoutValue[grouping] ?? 'All executions';
    if (grouping === 'agent') return group.agentName ?? 'Deleted agent';
    if (grouping === 'key') return keyNames?.get(value) ?? value;
    if (grouping === 'status') return value.replace('_', ' ');
    if (grouping !== 'version') return value === '' ? '(empty)' : value;
    const label = group.versionLabel ?? value;
    return agentId === undefined ? `${group.agentName ?? 'Deleted agent'}, ${label}` : label;
  };
}

const withoutValue: Partial<Record<Grouping, string>> = {
  key: 'Without a key',
  errorCode: 'No error',
  user: 'Without a user',
  tag: 'Without a tag',
};
