import { SegmentedControl, useMantineColorScheme } from '@mantine/core';
import { Card, DescriptionList } from '../../../components/layout/card.tsx';
import { useMe } from '../../../data/workspace/me.ts';
import { schemes } from '../../../shell/schemes.ts';
import { DeleteAccount } from './delete-account.tsx';
import { PasswordForm } from './password-form.tsx';

export function AccountPage() {
  const { user } = useMe();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <>
      <Card title="Profile">
        <div className="form">
          <DescriptionList
            items={[
              ['Name', user.name || '–'],
              ['Email', user.email],
              ['User ID', <code key="id">{user.userId}</code>],
            ]}
          />
        </div>
      </Card>
      <Card title="Appearance">
        <div className="form">
          <SegmentedControl
            aria-label="Appearance"
            data={schemes.map(({ scheme, label }) => ({ value: scheme, label }))}
            value={colorScheme}
            onChange={(scheme) => setColorScheme(scheme as typeof colorScheme)}
          />
        </div>
      </Card>
      <Card title="Change password">
        <p className="intro">Changing your password ends all your other sessions.</p>
        <div className="form">
          <PasswordForm />
        </div>
      </Card>
      <Card title="Delete account">
        <p className="intro">
          If you are the last owner of a workspace, make another member an owner first.
        </p>
        <div className="form">
          <DeleteAccount />
        </div>
      </Card>
    </>
  );
}
