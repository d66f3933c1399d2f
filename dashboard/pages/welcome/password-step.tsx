import { useState } from 'react';
import { PasswordForm } from '../../parts/password-form.tsx';
import { Step } from './step.tsx';

export function PasswordStep() {
  const [changed, setChanged] = useState(false);
  return (
    <Step
      title="Choose your own password"
      description="The first one was made up and printed in the server's output, where others may read it. All other sessions of yours end with the change."
      done={changed}
    >
      <PasswordForm onChanged={() => setChanged(true)} />
    </Step>
  );
}
