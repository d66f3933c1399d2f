import packed from '@sparticuz/chromium';

/** Unpacks Chromium into the directory for temporary files: a process of its own, which may be told of another one. */

await packed.executablePath();
