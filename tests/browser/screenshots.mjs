// Pictures of the pages, light, dark and narrow: node screenshots.mjs FOLDER
import { PAGES, browser, dashboard, open, seed } from './support.mjs';

const LOOKS = {
  light: { colorScheme: 'light' },
  dark: { colorScheme: 'dark' },
  narrow: { colorScheme: 'light', viewport: { width: 360, height: 740 } },
};
seed();
const [chromium, site] = await Promise.all([browser(), dashboard()]);
for (const [name, path] of Object.entries(PAGES)) {
  for (const [look, options] of Object.entries(LOOKS)) {
    const page = await open(chromium, options);
    await page.goto(site.url + path);
    await page.screenshot({ path: `${process.argv[2]}/dashboard-${name}-${look}.png` });
    await page.close();
  }
}
await chromium.close();
await site.stop();
