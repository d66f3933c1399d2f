import { Button } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { PageHeader } from '../../components/page-header.tsx';
import { may, useMe } from '../../data/workspace/me.ts';
import { finishFirstSteps } from './first-steps.ts';
import { PasswordStep } from './password-step.tsx';
import { ProviderStep } from './provider-step.tsx';
import { TryStep } from './try-step.tsx';
import classes from './welcome.module.css';

/** What an owner does once, in any order, all of it optional. */
export function WelcomePage() {
  const me = useMe();
  const navigate = useNavigate();
  const leave = () => {
    finishFirstSteps(me);
    void navigate({ to: '/agents' });
  };
  return (
    <>
      <PageHeader
        title="Welcome to Cueline"
        description="A few steps, in any order. None is needed to look around, and each can be done later."
        actions={
          <Button variant="default" onClick={leave}>
            Go to the agents
          </Button>
        }
      />
      <ol className={classes.steps}>
        <PasswordStep />
        {may(me, 'own') && <ProviderStep />}
        {may(me, 'edit') && <TryStep />}
      </ol>
    </>
  );
}
