import packed from '@sparticuz/chromium';

/** Unpacks Chromium into the temporary directory. A separate process, because TMPDIR must be set before the import. */

await packed.executablePath();
