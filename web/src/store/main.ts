import '@fontsource-variable/inter/wght.css'
import '../styles/tokens.css'
import '../styles/base.css'
import '../styles/parts.css'
import '../composables/useTheme'
import { VueQueryPlugin } from '@tanstack/vue-query'
import { createPinia } from 'pinia'
import { createApp } from 'vue'
import App from './App.vue'
import { queryClient } from '../api/queries'
import { withoutKey } from '../session/browser'
import { useSession } from '../session/store'
import { i18n } from '../texts'
import { offer, speakSoon } from '../texts/languages'
import { makeStoreRouter } from './router'

withoutKey()
offer({ de: () => import('../texts/de/store') })

const app = createApp(App)
app.use(i18n)
app.use(createPinia())
app.use(VueQueryPlugin, { queryClient })

// As headquarters begins: signing in, tokens and `GET /auth/me` have the same paths at a store.
const known = useSession().restore()
void speakSoon().then(() => app.use(makeStoreRouter(known)).mount('#app'))
