import '@mantine/spotlight/styles.layer.css';
import { Modal, useMantineColorScheme } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { createSpotlight, Spotlight } from '@mantine/spotlight';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import type { Me } from '../../src/client/index.ts';
import { Icon } from '../components/icon.tsx';
import { agentsQuery } from '../data/agents/agents.ts';
import { promptsQuery } from '../data/prompts/prompts.ts';
import { workflowsQuery } from '../data/workflows/workflows.ts';
import { schemes } from './account-menu.tsx';
import { navigationItems } from './navigation-items.ts';

const [store, spotlight] = createSpotlight();
const listId = 'palette-found';

/** The command palette (⌘K): pages, agents, prompts, workflows and global actions. The server does the searching. */
export default function CommandPalette(props: {
  readonly openRequests: number;
  readonly me: Me;
  readonly onShortcuts: () => void;
  readonly onSignOut: () => void;
}) {
  const [query, setQuery] = useState('');
  const [debouncedQuery] = useDebouncedValue(query.trim(), 150);
  const navigate = useNavigate();
  const found = { limit: 6, ...(debouncedQuery && { q: debouncedQuery }) };
  const agentsFound = useQuery(agentsQuery(found));
  const promptsFound = useQuery(promptsQuery(found));
  const workflowsFound = useQuery(workflowsQuery(found));
  // Each request reopens it.
  useEffect(() => spotlight.open(), [props.openRequests]);

  const pages = navigationItems.map(({ to, label, icon }) => ({
    id: to,
    label,
    leftSection: <Icon name={icon} />,
    onClick: () => void navigate({ to }),
  }));
  const agents = (agentsFound.data?.agents ?? []).map(({ agentId, agentName, status }) => ({
    id: agentId,
    label: agentName,
    description: status,
    leftSection: <Icon name="agents" />,
    onClick: () => void navigate({ to: '/agents/$agentId', params: { agentId } }),
  }));
  const prompts = (promptsFound.data?.prompts ?? []).map(({ promptId, name }) => ({
    id: promptId,
    label: name,
    leftSection: <Icon name="prompts" />,
    onClick: () => void navigate({ to: '/prompts/$promptId', params: { promptId } }),
  }));
  const workflows = (workflowsFound.data?.workflows ?? []).map(({ workflowId, name, enabled }) => ({
    id: workflowId,
    label: name,
    description: enabled ? 'on' : 'off',
    leftSection: <Icon name="workflows" />,
    onClick: () => void navigate({ to: '/workflows/$workflowId', params: { workflowId } }),
  }));
  const matchesQuery = ({ label }: Item) =>
    label.toLowerCase().includes(query.trim().toLowerCase());
  // Current results may match by description. Results of an earlier query are filtered by name.
  const filterFor = ({ isPlaceholderData }: { readonly isPlaceholderData: boolean }) =>
    debouncedQuery === query.trim() && !isPlaceholderData ? () => true : matchesQuery;
  const groups = [
    { label: 'Pages', items: pages.filter(matchesQuery) },
    { label: 'Agents', items: agents.filter(filterFor(agentsFound)) },
    { label: 'Prompts', items: prompts.filter(filterFor(promptsFound)) },
    { label: 'Workflows', items: workflows.filter(filterFor(workflowsFound)) },
    {
      label: 'Actions',
      items: useActions(props.onShortcuts, props.onSignOut).filter(matchesQuery),
    },
  ].filter(({ items }) => items.length > 0);
  useSelectFirst(query, groups.flatMap(({ items }) => items.map(({ id }) => id)).join());
  return (
    <Spotlight.Root
      // Mantine's faded description has too little contrast when selected.
      styles={{ actionDescription: { opacity: 1 } }}
      store={store}
      query={query}
      onQueryChange={setQuery}
      shortcut={null}
      scrollable
      maxHeight={420}
    >
      <Modal.Title className="visually-hidden">Search</Modal.Title>
      <Spotlight.Search
        placeholder="Search pages, agents, prompts, workflows"
        aria-label="Search pages, agents, prompts, workflows and actions"
        leftSection={<Icon name="search" />}
      />
      <Spotlight.ActionsList id={listId}>
        {groups.map(({ label, items }) => (
          <Spotlight.ActionsGroup key={label} label={label}>
            {items.map(({ id, ...item }) => (
              <Spotlight.Action key={id} {...item} />
            ))}
          </Spotlight.ActionsGroup>
        ))}
        {groups.length === 0 && <Spotlight.Empty>No matches</Spotlight.Empty>}
      </Spotlight.ActionsList>
    </Spotlight.Root>
  );
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
