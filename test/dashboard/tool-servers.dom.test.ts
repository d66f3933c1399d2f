import { test } from 'node:test';
import { toReceivers } from '../../harness/receiver.ts';
import { addToolServer } from '../../harness/tool-server.ts';
import { openPages } from './in-dom.ts';

const { service, visit } = await openPages({ config: toReceivers });

test('a check says what it has found, and what fails is announced', async () => {
  const { name, path, key } = await addToolServer(service, { url: service.url });
  const { page } = await visit('/settings/tool-servers', { as: 'owner' });
  const choose = async (action: string) => {
    await page.getByRole('button', { name: `Actions for ${name}` }).click();
    await page.getByRole('menuitem', { name: action }).click();
  };
  const status = page.getByRole('status');
  await choose('Check');
  await status.getByText('It answers').waitFor();
  await service.call('PATCH', path, { key, body: { url: 'http://127.0.0.1:1' } });
  await choose('Check');
  await status.getByText('Could not reach').waitFor();
  await service.call('DELETE', path, { key });
  await choose('Disable');
  await status.getByText('There is no such tool server').waitFor();
});
