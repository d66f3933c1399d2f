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
        <SegmentedControl
          aria-label="Appearance"
          data={schemes.map(({ scheme, label }) => ({ value: scheme, label }))}
          value={colorScheme}
          onChange={(scheme) => setColorScheme(scheme as typeof colorScheme)}
        />
      </Card>
      <Card title="Change password">
        <div className="form">
          <p className="note">Changing your password ends all your other sessions.</p>
          <PasswordForm />
        </div>
      </Card>
      <Card title="Delete account">
        <div className="form">
          <p className="note">
            If you are the last owner of a workspace, make another member an owner first.
          </p>
          <DeleteAccount />
        </div>
      </Card>
    </>
  );
}
