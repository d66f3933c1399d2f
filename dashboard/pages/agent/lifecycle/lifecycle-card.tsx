import { Button, Group } from '@mantine/core';
import type { Agent, LifecycleAction } from '../../../../src/client/index.ts';
import { Card } from '../../../components/layout/card.tsx';
import { moveAgent } from '../../../data/agents/agent-actions.ts';
import { can, useMe } from '../../../data/workspace/me.ts';
import { ConfirmDialog } from '../../../kit/confirm-dialog.tsx';
import { openDialog } from '../../../kit/dialog.tsx';
import classes from './lifecycle.module.css';
import { actionTexts } from './lifecycle-actions.ts';
import { LifecycleDiagram } from './lifecycle-diagram.tsx';

/** The agent's stage and the available lifecycle actions. */
export function LifecycleCard({ agent }: { readonly agent: Agent }) {
  const me = useMe();
  const ask = (action: LifecycleAction) => {
    const { question, verb, consequence, stopsCalls = false } = actionTexts[action];
    openDialog(
      <ConfirmDialog
        title={question}
        confirm={verb}
        destructive={stopsCalls}
        action={moveAgent(agent.agentId, action)}
      >
        {consequence}
      </ConfirmDialog>,
    );
  };
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
              onClick={() => ask(action)}
            >
              {actionTexts[action].verb}
            </Button>
          ))}
        </Group>
      )}
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
