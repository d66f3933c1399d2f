import { Button } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { PageHeader } from '../../components/page-header.tsx';
import { can, useMe } from '../../data/workspace/me.ts';
import { finishFirstSteps } from './first-steps.ts';
import { PasswordStep } from './password-step.tsx';
import { ProviderStep } from './provider-step.tsx';
import { TryStep } from './try-step.tsx';
import classes from './welcome.module.css';

/** The optional first steps of an owner. */
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
        description="Optional first steps, in any order. You can also do them later."
        actions={
          <Button variant="default" onClick={leave}>
            Skip
          </Button>
        }
      />
      <ol className={classes.steps}>
        <PasswordStep />
        {can(me, 'manage') && <ProviderStep />}
        {can(me, 'edit') && <TryStep />}
      </ol>
    </>
  );
}
