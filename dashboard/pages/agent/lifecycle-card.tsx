import { Button, Group } from '@mantine/core';
import { useState } from 'react';
import type { Agent, LifecycleAction } from '../../../src/client/index.ts';
import { Card } from '../../components/card.tsx';
import { ConfirmDialog } from '../../components/dialogs/confirm-dialog.tsx';
import { useMoveAgent } from '../../data/agents/agents.ts';
import { may, useMe } from '../../data/workspace/me.ts';
import classes from './lifecycle.module.css';
import { actionWords } from './lifecycle-actions.ts';
import { LifecyclePicture } from './lifecycle-diagram.tsx';

/** The agent's stage and the available lifecycle actions. */
export function LifecycleCard({ agent }: { readonly agent: Agent }) {
  const me = useMe();
  const move = useMoveAgent(agent.agentId);
  const [asked, setAsked] = useState<LifecycleAction>('deploy');
  const [opened, setOpened] = useState(false);
  const ask = (action: LifecycleAction) => {
    move.reset();
    setAsked(action);
    setOpened(true);
  };
  const words = actionWords[asked];
  return (
    <Card title="Lifecycle">
      <LifecyclePicture agent={agent} />
      {agent.archived && (
        <p className={classes.note}>Archived: hidden from the list, API disabled.</p>
      )}
      {!agent.archived && !agent.apiEnabled && opens(agent.status) && (
        <p className={classes.note}>The API is disabled in the settings: calls fail with 403.</p>
      )}
      {may(me, 'edit') && (
        <Group gap="xs" mt="lg">
          {agent.allowedActions.map((action) => (
            <Button
              key={action}
              variant={actionWords[action].stopsCalls ? 'default' : 'filled'}
              onClick={() => ask(action)}
            >
              {actionWords[action].verb}
            </Button>
          ))}
        </Group>
      )}
      <ConfirmDialog
        opened={opened}
        title={words.question}
        verb={words.verb}
        destructive={words.stopsCalls ?? false}
        order={move}
        onClose={() => setOpened(false)}
        onConfirm={() => move.mutate(asked, { onSuccess: () => setOpened(false) })}
      >
        {words.consequence}
      </ConfirmDialog>
    </Card>
  );
}

function opens(stage: Agent['status']): boolean {
  return stage === 'Testing' || stage === 'Deployed';
}
