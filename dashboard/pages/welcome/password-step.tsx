import { PasswordForm } from '../../components/password-form.tsx';
import { useMe } from '../../data/workspace/me.ts';
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
