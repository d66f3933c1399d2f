import { Group } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ApiKey } from '../../../src/client/index.ts';
import { LimitBars } from '../../components/figures/limit-bars.tsx';
import { Time } from '../../components/figures/time.tsx';
import { StateBadge } from '../../components/states/state-badge.tsx';
import type { Column } from '../../components/tables/data-table.tsx';
import list from '../../components/tables/list.module.css';
import { NameCell } from '../../components/tables/name-cell.tsx';
import { useAgentNames } from '../../data/agents/agent-names.ts';
import { keyStateOf } from '../../data/workspace/keys.ts';
import { useMemberNames } from '../../data/workspace/member-names.ts';
import { List } from '../../kit/list.tsx';
import { KeyActions } from './key-actions.tsx';
import classes from './keys.module.css';

/** The keys of the workspace, or those of an agent. */
export function KeyList<Data>(
  props: Pick<
    Parameters<typeof List<Data, ApiKey>>[0],
    'query' | 'rows' | 'empty' | 'add' | 'filtered'
  >,
) {
  return (
    <List
      {...props}
      caption="API keys"
      columns={columns}
      actions={(key) => <KeyActions apiKey={key} />}
      rowKey={({ apiKeyId }) => apiKeyId}
      loadingRows={4}
    />
  );
}

const columns: readonly Column<ApiKey>[] = [
  {
    header: 'Name',
    isName: true,
    cell: ({ name, start }) => (
      <NameCell
        name={
          <span className={list.name} title={name} dir="auto">
            {name}
          </span>
        }
        about={`${start}…`}
      />
    ),
  },
  { header: 'State', cell: (key) => <KeyState apiKey={key} /> },
  {
    header: 'Permissions',
    hideBelow: 'md',
    cell: ({ permissions }) => <span className="wide-text">{permissions.join(', ')}</span>,
  },
  {
    header: 'Agents',
    hideBelow: 'sm',
    cell: ({ agentIds }) => <KeyAgents agentIds={agentIds} />,
  },
  {
    header: 'Created by',
    hideBelow: 'xl',
    cell: ({ createdBy }) => <Creator userId={createdBy} />,
  },
  {
    header: 'Rate limit usage',
    hideBelow: 'md',
    cell: ({ rateLimitUsage }) =>
      rateLimitUsage.length === 0 ? 'No limits' : <LimitBars usage={rateLimitUsage} brief />,
  },
  {
    header: 'Last used',
    hideBelow: 'sm',
    cell: ({ lastUsedAt, rateLimitUsage }) => {
      if (lastUsedAt !== null) return <Time at={lastUsedAt} relative />;
      // The time is written about once a minute, the counts with each call, also with one of the key that this one replaces.
      return rateLimitUsage.some(({ used }) => used > 0) ? 'Not recorded yet' : 'Never';
    },
  },
];

const namesMax = 2;

/** The names of the agents that a key can call. */
function KeyAgents({ agentIds }: { readonly agentIds: readonly string[] | null }) {
  const nameOf = useAgentNames((agentIds ?? []).slice(0, namesMax));
  if (agentIds === null) return 'All';
  const more = agentIds.length - namesMax;
  return (
    <span className={classes.agents}>
      {agentIds.slice(0, namesMax).map((agentId) => (
        <Link
          key={agentId}
          to="/agents/$agentId"
          params={{ agentId }}
          title={nameOf(agentId)}
          dir="auto"
        >
          {nameOf(agentId) ?? agentId}
        </Link>
      ))}
      {more > 0 && <span>and {more.toLocaleString()} more</span>}
    </span>
  );
}

function Creator({ userId }: { readonly userId: string | null }) {
  return <bdi>{useMemberNames()(userId)}</bdi>;
}

/** With the end of a key that has one, such as one that was replaced. */
function KeyState({ apiKey }: { readonly apiKey: ApiKey }) {
  const state = keyStateOf(apiKey);
  return (
    <Group gap="xs" wrap="nowrap">
      <StateBadge tone={state === 'active' ? 'good' : 'calm'} text={state} />
      {state === 'active' && apiKey.expiresAt !== null && (
        <span className="small-note nowrap">
          ends <Time at={apiKey.expiresAt} relative />
        </span>
      )}
    </Group>
  );
}
