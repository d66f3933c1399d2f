import { PasswordForm } from '../../components/password-form.tsx';
import { useMe } from '../../data/workspace/me.ts';
import { Step } from './step.tsx';

export function PasswordStep() {
  const { generatedPassword } = useMe();
  return (
    <Step
      title="Change your password"
      description="The generated password is in the server's output, where others may read it. Changing it ends your other sessions."
      done={!generatedPassword}
    >
      <PasswordForm />
    </Step>
  );
}
