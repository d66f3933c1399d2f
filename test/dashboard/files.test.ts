import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeAgent, makePrompt, move } from '../../harness/prompts.ts';
import { openDashboard } from './harness.ts';

const { service, visit } = await openDashboard();
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const dataUrl = `data:image/png;base64,${png.toString('base64')}`;

test('writes a message with an image, and runs it with a chosen and a dropped file', async () => {
  const { promptId, path } = await makePrompt(service, { user: 'What is this?' });
  const { page, check } = await visit(`/prompts/${promptId}`, { as: 'editor' });
  await page.getByRole('button', { name: 'Use a list of messages' }).click();
  await page.getByRole('button', { name: 'Add image to message 1' }).click();
  await page.getByRole('textbox', { name: 'Variable of image of message 1' }).fill('photo');
  await page.getByRole('button', { name: 'Add file to message 1' }).click();
  await page.getByRole('button', { name: 'Remove variable of file of message 1' }).click();
  await check();
  await page.getByRole('button', { name: 'Save version' }).click();
  await page.getByRole('status').getByText('Saved as v2.').waitFor();
  const { key } = await service.key();
  const { versions } = (await service.call('GET', `${path}/versions`, { key })).body;
  const id = versions[0].promptVersionId;
  const { body } = await service.call('GET', `${path}/versions/${id}`, { key });
  const content = [{ text: 'What is this?' }, { image: '{{photo}}' }];
  assert.deepEqual(body.messages, [{ role: 'user', content }]);

  const pinned = { promptId, path, versionIds: [id] };
  const agent = await makeAgent(service, pinned, { visibility: 'public' });
  await move(service, agent, 'enable-api');
  await page.goto(`${service.url}/agents/${agent.agentId}/run`);
  const area = page.getByLabel('Drop an image for photo');
  await area.waitFor();
  const choose = page.getByLabel('Image for photo', { exact: true });
  await choose.setInputFiles({ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('a') });
  await page.getByText('This is not an image.').waitFor();
  const large = { name: 'b.png', mimeType: 'image/png', buffer: Buffer.alloc(750_001) };
  await choose.setInputFiles(large);
  await page.getByText('Give its https URL instead.').waitFor();
  await choose.setInputFiles({ name: 'c.png', mimeType: 'image/png', buffer: png });
  await page.getByAltText('Preview of photo').waitFor();
  await page.getByRole('button', { name: 'Remove the file of photo' }).click();
  const transfer = await page.evaluateHandle(`(() => {
    const bytes = Uint8Array.from(atob('${png.toString('base64')}'), (one) => one.charCodeAt(0));
    const data = new DataTransfer();
    data.items.add(new File([bytes], 'd.png', { type: 'image/png' }));
    return data;
  })()`);
  await area.dispatchEvent('drop', { dataTransfer: transfer });
  await page.getByAltText('Preview of photo').waitFor();
  await check({ inDarkMode: true });
  const held = service.models.hold();
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  const { messages } = await held.arrived;
  assert.deepEqual(messages?.[0]?.content, [
    { text: 'What is this?' },
    { image: { variable: 'photo', value: dataUrl } },
  ]);
  held.release({ text: 'A dot.' });
  await page.getByRole('link', { name: 'Record' }).click();
  await page.getByRole('img', { name: 'Contents of photo' }).waitFor();
  await page.getByText('[image photo, image/png, 70 bytes]').waitFor();
  await check();
});

test('a URL is a value too, and an optional image may be left out', async () => {
  const image = [{ text: 'Look.' }, { image: '{{photo}}' }];
  const prompt = await makePrompt(service, { messages: [{ role: 'user', content: image }] });
  const { page } = await visit(`/prompts/${prompt.promptId}/playground`, { as: 'editor' });
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  const column = page.getByRole('region', { name: 'A · v1' });
  await column.getByText('Look.').waitFor();
  assert.deepEqual(service.models.calls.at(-1)?.messages?.[0]?.content, [{ text: 'Look.' }]);
  const url = 'https://files.example/a.png';
  await page.getByRole('textbox', { name: 'photo' }).fill(url);
  const held = service.models.hold();
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  const { messages } = await held.arrived;
  assert.deepEqual(messages?.[0]?.content[1], { image: { variable: 'photo', value: url } });
  held.release({ text: 'Seen.' });
  await page.getByText('Seen.').waitFor();
});
