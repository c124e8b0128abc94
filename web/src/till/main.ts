import '@fontsource-variable/inter/wght.css'
import '../styles/tokens.css'
import '../styles/base.css'
import '../styles/parts.css'
import './frame/till.css'
import '../composables/useTheme'
import { createApp } from 'vue'
import { i18n } from '../texts'
import { offer, speakSoon } from '../texts/languages'
import App from './App.vue'
import { makeTill } from './engine'
import { TILL } from './engine/use'
import { noticeInstall } from './frame/install'
import { isDisplay } from './screens'
import { followUpdates } from './update'

offer({ de: () => import('../texts/de/till') })
noticeInstall()

const till = makeTill()
const app = createApp(App)
app.use(i18n)
app.provide(TILL, till)

void speakSoon().then(() => app.mount('#app'))
// A display shows what another window says; it is no till, and asks for nothing.
if (!isDisplay()) {
  void till.start()
  followUpdates(till)
}
