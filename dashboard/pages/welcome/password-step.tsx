import { useMe } from '../../data/me.ts';
import { PasswordForm } from '../../parts/password-form.tsx';
import { Step } from './step.tsx';

export function PasswordStep() {
  const { generatedPassword } = useMe();
  return (
    <Step
      title="Choose your own password"
      description="One that is made up for somebody is printed in the server's output, where others may read it. All other sessions of yours end with the change."
      done={!generatedPassword}
    >
      <PasswordForm />
    </Step>
  );
}
