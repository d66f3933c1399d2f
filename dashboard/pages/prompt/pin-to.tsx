import { Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Agent } from '../../../src/client/index.ts';
import { StageBadge, StateBadge } from '../../components/states/state-badge.tsx';
import type { Column } from '../../components/tables/data-table.tsx';
import { PinButton } from '../../components/versions/pin-button.tsx';
import { agentsQuery } from '../../data/agents/agents.ts';
import { SmallButton } from '../../kit/confirm-dialog.tsx';
import { Dialog, DialogCloseButton, openDialog, useCloseDialog } from '../../kit/dialog.tsx';
import { List } from '../../kit/list.tsx';
import { PinDialog } from '../agent/pin-dialog.tsx';

interface Version {
  readonly id: string;
  readonly label: string;
}

interface Props {
  readonly promptId: string;
  readonly version: Version;
}

/** The agents of a prompt, archived ones left out. */
export const agentsOfPromptQuery = (promptId: string) => agentsQuery({ promptId, limit: 100 });

/** Opens the agents of the prompt, to pin the version for one of them. */
export function PinToButton(props: Props) {
  return (
    <SmallButton
      label="Pin to…"
      of={`for ${props.version.label}`}
      onClick={() => openDialog(<PinTo {...props} />)}
    />
  );
}

function PinTo({ promptId, version }: Props) {
  const agents = useQuery(agentsOfPromptQuery(promptId));
  const [chosen, setChosen] = useState<Agent | null>(null);
  const close = useCloseDialog();
  if (chosen) {
    return <PinDialog agent={chosen} promptVersionId={version.id} onClose={close} />;
  }
  return (
    <Dialog title={`Pin ${version.label} to…`} width="medium">
      <div className="stack">
        <List
          caption="Agents of the prompt"
          query={agents}
          rows={(page) => page.agents}
          rowKey={({ agentId }) => agentId}
          columns={columns}
          actions={(agent) =>
            agent.promptVersionId === version.id ? (
              <StateBadge tone="good" text="pinned" />
            ) : (
              <PinButton
                version={version}
                pinnedId={agent.promptVersionId}
                onClick={() => setChosen(agent)}
              />
            )
          }
          empty="No agent uses this prompt yet. Create one on the page Agents."
        />
        <Group justify="flex-end">
          <DialogCloseButton>Close</DialogCloseButton>
        </Group>
      </div>
    </Dialog>
  );
}

const columns: readonly Column<Agent>[] = [
  {
    header: 'Agent',
    cell: (agent) => (
      <>
        <Link to="/agents/$agentId" params={{ agentId: agent.agentId }} dir="auto">
          {agent.agentName}
        </Link>{' '}
        <StageBadge agent={agent} />
      </>
    ),
  },
  {
    header: 'Version now',
    cell: ({ promptVersionLabel }) => <bdi className="code">{promptVersionLabel}</bdi>,
  },
];

const shownMax = 2;

/** The agents that a version is live in. */
export function LiveIn({ agents }: { readonly agents: readonly Agent[] }) {
  if (agents.length === 0) return <span className="soft">–</span>;
  return (
    <>
      {agents.slice(0, shownMax).map((agent) => (
        <div key={agent.agentId}>
          <Link to="/agents/$agentId" params={{ agentId: agent.agentId }} dir="auto">
            {agent.agentName}
          </Link>{' '}
          <StageBadge agent={agent} />
        </div>
      ))}
      {agents.length > shownMax && (
        <div className="small-note">and {(agents.length - shownMax).toLocaleString()} more</div>
      )}
    </>
  );
}
