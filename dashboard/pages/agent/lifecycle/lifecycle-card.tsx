import { Button, Group } from '@mantine/core';
import { useState } from 'react';
import type { Agent, LifecycleAction } from '../../../../src/client/index.ts';
import { ConfirmDialog } from '../../../components/dialogs/confirm-dialog.tsx';
import { Card } from '../../../components/layout/card.tsx';
import { useMoveAgent } from '../../../data/agents/agents.ts';
import { can, useMe } from '../../../data/workspace/me.ts';
import classes from './lifecycle.module.css';
import { actionTexts } from './lifecycle-actions.ts';
import { LifecycleDiagram } from './lifecycle-diagram.tsx';

/** The agent's stage and the available lifecycle actions. */
export function LifecycleCard({ agent }: { readonly agent: Agent }) {
  const me = useMe();
  const move = useMoveAgent(agent.agentId);
  const [selected, setSelected] = useState<LifecycleAction>('deploy');
  const [opened, setOpened] = useState(false);
  const openDialog = (action: LifecycleAction) => {
    move.reset();
    setSelected(action);
    setOpened(true);
  };
  const texts = actionTexts[selected];
  return (
    <Card title="Lifecycle">
      <LifecycleDiagram agent={agent} />
      {agent.archived && (
        <p className={classes.note}>Archived: hidden from the list, API disabled.</p>
      )}
      {!agent.archived && !agent.apiEnabled && acceptsCalls(agent.status) && (
        <p className={classes.note}>The API is disabled in the settings: calls fail with 403.</p>
      )}
      {can(me, 'edit') && (
        <Group gap="xs" mt="lg">
          {agent.allowedActions.filter(isStageOnly).map((action) => (
            <Button
              key={action}
              variant={actionTexts[action].stopsCalls ? 'default' : 'filled'}
              onClick={() => openDialog(action)}
            >
              {actionTexts[action].verb}
            </Button>
          ))}
        </Group>
      )}
      <ConfirmDialog
        opened={opened}
        title={texts.question}
        confirmLabel={texts.verb}
        destructive={texts.stopsCalls ?? false}
        mutation={move}
        onClose={() => setOpened(false)}
        onConfirm={() => move.mutate(selected, { onSuccess: () => setOpened(false) })}
      >
        {texts.consequence}
      </ConfirmDialog>
    </Card>
  );
}

/** Pause and Resume are in the head of the page. */
function isStageOnly(action: LifecycleAction): boolean {
  return action !== 'disable' && action !== 're-enable';
}

function acceptsCalls(stage: Agent['status']): boolean {
  return stage === 'Testing' || stage === 'Deployed';
}
