import '@mantine/spotlight/styles.layer.css';
import { Modal, useMantineColorScheme } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { createSpotlight, Spotlight } from '@mantine/spotlight';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import type { Me } from '../../../src/client/index.ts';
import { PauseDialog } from '../../components/dialogs/pause-dialog.tsx';
import { Icon, type IconName } from '../../components/icon.tsx';
import { agentsQuery } from '../../data/agents/agents.ts';
import { promptsQuery } from '../../data/prompts/prompts.ts';
import { workflowsQuery } from '../../data/workflows/workflows.ts';
import { can } from '../../data/workspace/me.ts';
import { openDialog } from '../../kit/dialog.tsx';
import { navigationItems } from '../navigation/navigation-items.ts';
import { settingsAreas } from '../navigation/settings-areas.ts';
import { schemes } from '../schemes.ts';
import { identifiedQuery, identifierForm } from './identified.ts';

const [store, spotlight] = createSpotlight();
const listId = 'palette-found';

/**
 * The command palette (⌘K): pages, settings, actions, agents, prompts, workflows, and resources by identifier. The server
 * does the searching. Results of the server come last and change only once all of them have arrived, so that nothing moves
 * under the pointer while they load.
 */
export default function CommandPalette(props: {
  readonly openRequests: number;
  readonly me: Me;
  readonly onShortcuts: () => void;
  readonly onSignOut: () => void;
}) {
  const [query, setQuery] = useState('');
  const typed = query.trim();
  const { groups: found, isSettled, failed, note } = useFound(props.me, typed);
  const local = useLocalGroups(props);
  // Each request reopens it.
  useEffect(() => spotlight.open(), [props.openRequests]);
  const groups = [...matching(local, typed), ...found, useCallers(typed)].filter(
    ({ items }) => items.length > 0,
  );
  useSelectFirst(query, groups.flatMap(({ items }) => items.map(({ id }) => id)).join());
  return (
    <Spotlight.Root
      // Mantine's faded description has too little contrast when selected.
      styles={{ actionDescription: { opacity: 1 } }}
      store={store}
      query={query}
      onQueryChange={setQuery}
      shortcut={null}
      // What stands behind it stays readable, and results grow downwards.
      overlayProps={{ backgroundOpacity: 0.4 }}
      centered={false}
      yOffset="12vh"
    >
      <Modal.Title className="visually-hidden">Search</Modal.Title>
      <Spotlight.Search
        placeholder="Search pages, agents, prompts, workflows, “user NAME”, or paste an identifier"
        aria-label="Search pages, agents, prompts, workflows, actions and identifiers"
        leftSection={<Icon name="search" />}
      />
      <Spotlight.ActionsList id={listId} style={{ maxHeight: listHeightMax }}>
        {groups.map(({ label, items }) => (
          <Spotlight.ActionsGroup key={label} label={label}>
            {items.map(({ id, ...item }) => (
              <Spotlight.Action key={id} dir="auto" {...item} />
            ))}
          </Spotlight.ActionsGroup>
        ))}
        {failed.length > 0 && (
          <Spotlight.Empty>Could not search {failed.join(', ')}</Spotlight.Empty>
        )}
        {note && <Spotlight.Empty>{note}</Spotlight.Empty>}
        {groups.length === 0 && failed.length === 0 && !note && (
          <Spotlight.Empty>{isSettled ? 'No matches' : 'Searching…'}</Spotlight.Empty>
        )}
      </Spotlight.ActionsList>
    </Spotlight.Root>
  );
}

const listHeightMax = 'min(26rem, 60vh)';

interface Group {
  readonly label: string;
  readonly items: readonly Item[];
}

function matching(groups: readonly Group[], typed: string): readonly Group[] {
  const matches = ({ label }: Item) => label.toLowerCase().includes(typed.toLowerCase());
  return groups.map(({ label, items }) => ({ label, items: items.filter(matches) }));
}

interface Found {
  readonly groups: readonly Group[];
  /** Whether all results have arrived. */
  readonly isSettled: boolean;
  /** What could not be searched. */
  readonly failed: readonly string[];
  /** Where an identifier was not found. */
  readonly note: string | undefined;
}

/** What the server finds. Until all results have arrived, shows those of the previous ones that match. */
function useFound(me: Me, typed: string): Found {
  const [query] = useDebouncedValue(typed, 150);
  const navigate = useNavigate();
  const pause = can(me, 'edit') ? /^pause\b\s*(.*)$/i.exec(query)?.[1] : undefined;
  const filters = { limit: 6, ...(query && { q: query }) };
  const paused = { limit: 6, status: 'Deployed' as const, ...(pause && { q: pause }) };
  const agents = useQuery(agentsQuery(pause === undefined ? filters : paused));
  const prompts = useQuery(promptsQuery(filters));
  const workflows = useQuery(workflowsQuery(filters));
  const identified = useQuery(identifiedQuery(query));
  const isSettled =
    query === typed &&
    [agents, prompts, workflows].every(
      ({ isPlaceholderData, isPending }) => !isPlaceholderData && !isPending,
    ) &&
    !identified.isFetching;
  const toAgent = ({ agentId }: { readonly agentId: string }) =>
    void navigate({ to: '/agents/$agentId', params: { agentId } });
  const now: Group[] = [
    {
      label: 'Identifiers',
      items: [identified.data].flatMap((one) => {
        if (!one || one.to === null) return [];
        const { id, label, to, search = {} } = one;
        return {
          ...{ id: `id-${id}`, label, description: query },
          leftSection: <Icon name="search" />,
          onClick: () => void navigate({ to, search: search as never }),
        };
      }),
    },
    {
      label: 'Agents',
      items: (agents.data?.agents ?? []).map((agent) => ({
        id: agent.agentId,
        label: pause === undefined ? agent.agentName : `Pause ${agent.agentName}`,
        description: agent.status,
        leftSection: <Icon name="agents" />,
        onClick: () =>
          pause === undefined ? toAgent(agent) : openDialog(<PauseDialog agent={agent} />),
      })),
    },
    {
      label: 'Prompts',
      items: (prompts.data?.prompts ?? []).map(({ promptId, name }) => ({
        id: promptId,
        label: name,
        leftSection: <Icon name="prompts" />,
        onClick: () => void navigate({ to: '/prompts/$promptId', params: { promptId } }),
      })),
    },
    {
      label: 'Workflows',
      items: (workflows.data?.workflows ?? []).map(({ workflowId, name, enabled }) => ({
        id: workflowId,
        label: name,
        description: enabled ? 'Enabled' : 'Disabled',
        leftSection: <Icon name="workflows" />,
        onClick: () => void navigate({ to: '/workflows/$workflowId', params: { workflowId } }),
      })),
    },
  ];
  const settled = useRef<{ readonly typed: string; readonly groups: readonly Group[] }>(undefined);
  if (isSettled) settled.current = { typed, groups: now };
  const { typed: before, groups } = settled.current ?? { typed, groups: [] };
  const failed = Object.entries({ identifiers: identified, agents, prompts, workflows })
    .filter(([, { isError, data }]) => isSettled && isError && data === undefined)
    .map(([name]) => name);
  const shown = before === typed ? groups : matching(groups, typed);
  const note = isSettled && identified.data?.to === null ? identified.data.label : undefined;
  return { groups: shown, isSettled, failed, note };
}

/** Users and sessions have no list: `user NAME`, `session NAME`, or what looks like the identifier of one. */
function useCallers(text: string): Group {
  const navigate = useNavigate();
  const [, kind, named] = /^(user|session)\s+(\S.*)$/i.exec(text) ?? [];
  const isIdentifier = /^\S*[\d@:]\S*$/.test(text) && !identifierForm.test(text);
  const value = named ?? (isIdentifier ? text : null);
  const kinds = kind ? [kind.toLowerCase()] : ['user', 'session'];
  const items = kinds.map((one) => ({
    ...{ id: `of-${one}`, label: `${one === 'user' ? 'User' : 'Session'} ${value}` },
    leftSection: <Icon name="history" />,
    onClick: () => void navigate({ to: `/${one}`, search: { [one]: value } as never }),
  }));
  return { label: 'Callers', items: value === null ? [] : items };
}

/** Pages, settings and actions, which need no server. */
function useLocalGroups(props: {
  readonly me: Me;
  readonly onShortcuts: () => void;
  readonly onSignOut: () => void;
}): readonly Group[] {
  const navigate = useNavigate();
  const open = (to: string, label: string, icon: IconName): Item => ({
    ...{ id: to, label, leftSection: <Icon name={icon} /> },
    onClick: () => void navigate({ to }),
  });
  const settings = settingsAreas
    .filter((area) => can(props.me, 'manage') || !('owner' in area))
    .map(({ to, label }) => open(to, `Settings: ${label}`, 'settings'));
  const create = can(props.me, 'edit')
    ? [
        open('/agents/new', 'New agent', 'plus'),
        open('/prompts', 'New prompt', 'plus'),
        open('/workflows/new', 'New workflow', 'plus'),
        open('/keys', 'Create key', 'plus'),
      ]
    : [];
  const failures: Item = {
    ...open('/history', 'Failed executions', 'history'),
    id: 'failed',
    onClick: () => void navigate({ to: '/history', search: { status: 'failed' } }),
  };
  const actions = useActions(props.onShortcuts, props.onSignOut);
  return [
    {
      label: 'Pages',
      items: [...navigationItems.map(({ to, label, icon }) => open(to, label, icon)), failures],
    },
    { label: 'Settings', items: settings },
    {
      label: 'Actions',
      items: [...create.map((item) => ({ ...item, id: `do-${item.label}` })), ...actions],
    },
  ];
}

interface Item {
  readonly id: string;
  readonly label: string;
  readonly description?: string;
  readonly leftSection: ReactNode;
  readonly onClick: () => void;
}

/**
 * Selects the first result, so that Enter opens it. Spotlight does so only while typing, before the server has
 * answered.
 */
function useSelectFirst(query: string, shown: string) {
  useEffect(() => {
    if (query !== '') selectFirst();
  }, [query]);
  useEffect(() => {
    const isSelected = document.querySelector(`#${listId} [data-selected]`) !== null;
    // New results may have removed the selected one.
    if (query !== '' && shown !== '' && !isSelected) selectFirst();
  }, [query, shown]);
}

/** Repeats what Spotlight does internally; it exports no function for this. */
function selectFirst() {
  document.querySelector(`#${listId} [data-selected]`)?.removeAttribute('data-selected');
  document.querySelector(`#${listId} [data-action]`)?.setAttribute('data-selected', 'true');
  store.updateState((state) => ({ ...state, selected: 0 }));
}

function useActions(onShortcuts: () => void, onSignOut: () => void): Item[] {
  const { setColorScheme } = useMantineColorScheme();
  return [
    ...schemes.map(({ scheme, label, icon }) => ({
      id: `scheme-${scheme}`,
      label: `Appearance: ${label}`,
      leftSection: <Icon name={icon} />,
      onClick: () => setColorScheme(scheme),
    })),
    {
      id: 'shortcuts',
      label: 'Keyboard shortcuts',
      leftSection: <Icon name="keyboard" />,
      onClick: onShortcuts,
    },
    {
      id: 'sign-out',
      label: 'Sign out',
      leftSection: <Icon name="leave" />,
      onClick: onSignOut,
    },
  ];
}
